package pages_test

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/registry"
)

// TestEveryProposalCanBeRevised sends the form back as a browser does, for parameters of the largest size that grow most
// when they are shown: what comes back is what was there, but for what was changed, and the form hides nothing.
func TestEveryProposalCanBeRevised(t *testing.T) {
	type free struct {
		Any  any    `json:"any"`
		Last string `json:"last"`
	}
	plant := registry.Define("plant", registry.Spec[free]{Description: "Plant.", Permission: "trees:plant", Mode: authz.Execute},
		func(context.Context, free) (string, error) { return "", nil })
	s := open(t, plant)
	const room = canon.MaxBytes - 200
	for name, doc := range map[string]string{
		"small":               `[1,2]`,
		"deep":                strings.Repeat("[", 60) + strings.TrimSuffix(strings.Repeat("0,", room/2-60), ",") + strings.Repeat("]", 60),
		"wide":                `[` + strings.TrimSuffix(strings.Repeat("0,", room/2), ",") + `]`,
		"what cannot be seen": `"` + strings.Repeat("\x7f", room) + `"`,
		"longer than it is":   `"` + strings.Repeat("\u00ad\u202e", room/5) + `"`,
		"escapes":             `"` + strings.Repeat(`\"`, room/2) + `"`,
		"line breaks":         `"` + strings.Repeat(`\n`, room/2) + `"`,
		"other letters":       `"` + strings.Repeat("я", room/2) + `"`,
		"empty objects":       `[` + strings.TrimSuffix(strings.Repeat("{},", room/3), ",") + `]`,
	} {
		t.Run(name, func(t *testing.T) {
			a := s.gate.Call(t.Context(), s.session(), chattools.Call{Name: "plant", Arguments: []byte(`{"any":` + doc + `,"last":"old"}`)})
			require.Equal(t, chattools.NeedsApproval, a.Status)
			_, page := s.get("sam", "proposals/"+a.Proposal)
			m := regexp.MustCompile(`(?s)<textarea class="mono"[^>]*>(.*?)</textarea>`).FindStringSubmatch(page)
			require.NotNil(t, m)
			draft := html.UnescapeString(m[1])
			require.False(t, strings.ContainsAny(draft, "\x7f\u00ad\u202e"))
			before, err := s.book.Proposal(t.Context(), "shop", a.Proposal)
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(draft, `"old"`))
			draft = strings.ReplaceAll(strings.ReplaceAll(draft, `"old"`, `"new"`), "\n", "\r\n")
			code, to := s.post("sam", "proposals/"+a.Proposal+"/revise", url.Values{"params": {draft}})
			require.Equal(t, http.StatusSeeOther, code)
			id := strings.TrimSuffix(strings.TrimPrefix(to, "/ops/proposals/"), "?done=revised")
			after, err := s.book.Proposal(t.Context(), "shop", id)
			require.NoError(t, err)
			require.True(t, after.Params.String() == strings.Replace(before.Params.String(), `"old"`, `"new"`, 1), "nothing else has changed")
		})
	}
}

// TestDraftsAreNotRepaired: what has no exact form is refused in a large draft as in a small one.
func TestDraftsAreNotRepaired(t *testing.T) {
	s := open(t)
	id := s.ask("W1", 1)
	for _, params := range []string{
		`{"order":"W1","order":"W1","cents":2}`, `{"order":"W1","cents":2.0000000000000000001}`, `{"order":"\ud800","cents":2}`, `{"order":"W1","cents":2}}`, `{"order":"` + "\xff" + `","cents":2}`,
	} {
		for _, fill := range []string{"", strings.Repeat(" ", canon.MaxBytes)} {
			code, _ := s.post("sam", "proposals/"+id+"/revise", url.Values{"params": {fill + params}})
			require.Equal(t, http.StatusUnprocessableEntity, code, params)
		}
	}
	code, _ := s.post("sam", "proposals/"+id+"/revise", url.Values{"params": {strings.Repeat(" ", canon.MaxBytes) + `{"order":"W1","cents":2}`}})
	require.Equal(t, http.StatusSeeOther, code)
}
