package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/examples/shop/workload"
)

// What only one customer has: an email address, payment methods, orders.
var personal = regexp.MustCompile(`[a-z0-9._]+@example\.com|(?:credit_card|gift_card|paypal)_\d+|#W\d+`)

// Over the whole replay a model reads nothing of another customer, no token and nothing of the keys: not in an
// answer, not in the state of a proposal, not in a catalog, and not in how Go prints them.
func TestNothingThatTheModelReadsIsSomebodyElses(t *testing.T) {
	secret := []byte("the ring's secret, thirty-two bytes or more")
	r := newTestReplay(t, true)
	var err error
	r.Keys, err = token.NewRing("example", token.Key{ID: "k1", Secret: secret})
	require.NoError(t, err)
	require.NoError(t, r.Build(r.Config("1")))

	var everything strings.Builder
	var tokens []string
	checked := 0
	for _, task := range tasks(t) {
		own := r.ownedBy(task)
		hear := func(text []byte) {
			everything.Write(text)
			for _, found := range personal.FindAllString(string(text), -1) {
				checked++
				require.Contains(t, own, found, "%s reads what is not %s's", task.ID, task.UserID)
			}
		}
		r.heard = func(text []byte) {
			hear(text)
			var a chattools.Answer
			require.NoError(t, json.Unmarshal(text, &a))
			hear(fmt.Appendf(nil, "%#v", a))
			fmt.Fprintf(&everything, "%v %+v %s %q", a, a, a, a) // which have no more than that
			if a.Status == chattools.NeedsApproval {
				redemption, err := r.Open(t.Context(), a.Proposal, store.Sam)
				require.NoError(t, err)
				tokens = append(tokens, redemption.Token.Reveal())
			}
		}
		from := len(r.proposals)
		require.NoError(t, r.task(t.Context(), task))

		session, err := r.Session(task.UserID, task.ID)
		require.NoError(t, err)
		for _, id := range r.proposals[from:] {
			a := r.Gate.Call(t.Context(), session, chattools.Call{Name: "proposal_status", Arguments: fmt.Appendf(nil, `{"proposal":%q}`, id)})
			require.Equal(t, chattools.Done, a.Status)
			text, err := json.Marshal(a)
			require.NoError(t, err)
			hear(text)
		}
		tools, err := r.Gate.Catalog(t.Context(), session)
		require.NoError(t, err)
		text, err := json.Marshal(tools)
		require.NoError(t, err)
		everything.Write(text)
	}
	require.Len(t, tokens, 750)
	require.Greater(t, checked, 1000)

	heard := everything.String()
	require.Contains(t, heard, `"status":"forbidden"`)
	require.Contains(t, heard, `"status":"failed"`)
	require.NotContains(t, heard, "apv1")
	fragments := []string{string(secret), hex.EncodeToString(secret), base64.StdEncoding.EncodeToString(secret), base64.RawURLEncoding.EncodeToString(secret)}
	for _, text := range tokens {
		parts := strings.Split(text, ".")
		require.Len(t, parts, 4)
		fragments = append(fragments, parts[3]) // a token's MAC
	}
	words := map[string]bool{} // searching a long text for each fragment would take minutes
	for _, word := range regexp.MustCompile(`[A-Za-z0-9+/_=-]{20,}`).FindAllString(heard, -1) {
		words[word] = true
	}
	for _, fragment := range fragments[:4] {
		require.NotContains(t, heard, fragment)
	}
	for _, fragment := range fragments[4:] {
		require.False(t, words[fragment], "a token's MAC")
	}
}

// ownedBy lists what is personal and the customer's own.
func (r *replay) ownedBy(task workload.Task) []string {
	user := r.Office.Shop.Load().Snapshot().Data().Users[task.UserID]
	own := append([]string{user.Email}, user.Orders...)
	for id := range user.PaymentMethods {
		own = append(own, id)
	}
	return own
}
