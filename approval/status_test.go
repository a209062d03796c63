package approval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/registry"
)

// ask calls the status action and returns its JSON.
func (o *office) ask(t *testing.T, s authz.Session, id string) (string, error) {
	t.Helper()
	res, err := o.reg.Invoke(t.Context(), registry.Call{Session: s, Action: "proposal_status", Params: fmt.Appendf(nil, `{"proposal":%q}`, id)})
	return string(res.JSON), err
}

func (o *office) status(t *testing.T, s authz.Session, id string) approval.Status {
	t.Helper()
	text, err := o.ask(t, s, id)
	require.NoError(t, err)
	var status approval.Status
	require.NoError(t, json.Unmarshal([]byte(text), &status))
	return status
}

// Each state has words of its own: nothing that waits can be taken for a no, and no failure for a success.
func TestEachStateHasItsWords(t *testing.T) {
	private := errors.New("dial tcp 10.0.0.7: password=hunter2")
	approveWith := func(run func(context.Context, refundParams) (any, error)) func(*testing.T, *office, string) {
		return func(t *testing.T, o *office, id string) {
			o.run = run
			_ = o.approve(t, id, sam)
		}
	}
	quit := func(t *testing.T, o *office, id string) { // the run ends its goroutine, and the ledger is deaf
		store := ledgertest.NewFaulty(o.book)
		o.rebuild(t, func(c *registry.Config) { c.Ledger = store })
		store.Inject(ledgertest.Fault{Method: "Finish"})
		o.run = func(context.Context, refundParams) (any, error) { runtime.Goexit(); return nil, nil }
		redemption, done := o.open(t, id, sam).Redemption(), make(chan bool)
		go func() {
			defer close(done)
			_, _ = o.desk.Approve(context.Background(), redemption)
		}()
		<-done
	}
	var successor string
	for _, test := range []struct {
		name string
		act  func(*testing.T, *office, string)
		want string
	}{
		{"waiting", func(*testing.T, *office, string) {}, `"status":"waiting","expires_at":"2026-03-02T09:05:00Z"`},
		{"expired", func(_ *testing.T, o *office, _ string) { o.pass(5 * time.Minute) },
			`"status":"expired","reason":"nobody decided in time; it can be proposed again"`},
		{"dismissed", func(t *testing.T, o *office, id string) {
			require.NoError(t, o.desk.Dismiss(t.Context(), scope, id, sam, "the parcel has left"))
		}, `"status":"dismissed","reason":"the parcel has left"`},
		{"dismissed without a reason", func(t *testing.T, o *office, id string) {
			require.NoError(t, o.desk.Dismiss(t.Context(), scope, id, sam, ""))
		}, `"status":"dismissed"`},
		{"superseded", func(t *testing.T, o *office, id string) {
			p, err := o.desk.Revise(t.Context(), scope, id, sam, params("a1", 6))
			require.NoError(t, err)
			successor = p.Proposal.ID
		}, `"status":"revised","reason":"a person changed it; what takes its place is decided about by itself","successor":"SUCCESSOR"`},
		{"dismissed with a note that claims a successor", func(t *testing.T, o *office, id string) {
			require.NoError(t, o.desk.Dismiss(t.Context(), scope, id, sam, "superseded by "+id))
			successor = id
		}, `"status":"dismissed","reason":"superseded by SUCCESSOR"`},
		{"done", approveWith(nil), `"status":"done","result":5`},
		{"done without a result", approveWith(func(context.Context, refundParams) (any, error) { return nil, nil }), `"status":"done"`},
		{"failed in private", approveWith(func(context.Context, refundParams) (any, error) { return nil, private }), `"status":"failed"`},
		{"panicked", approveWith(func(context.Context, refundParams) (any, error) { panic(private) }), `"status":"failed"`},
		{"failed in public", approveWith(func(context.Context, refundParams) (any, error) {
			return nil, fmt.Errorf("%w: %w", private, registry.Public(errors.New("The order was paid\xff in cash.")))
		}), `"status":"failed","reason":"The order was paid` + "\uFFFD" + ` in cash."`},
		{"running", quit, `"status":"running"`},
		{"interrupted", func(t *testing.T, o *office, id string) { quit(t, o, id); o.pass(registry.DefaultRunLimit) },
			`"status":"interrupted","reason":"it was approved, and nothing is known about how it ended"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := openOffice(t, nil)
			id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
			test.act(t, o, id)
			text, err := o.ask(t, sessionFor(t, ann), id)
			require.NoError(t, err)
			want := strings.ReplaceAll(test.want, "SUCCESSOR", successor)
			require.Equal(t, `{"proposal":"`+id+`","action":"refund",`+want+`}`, text)
			require.NotContains(t, text, "hunter2")
		})
	}
}

// Another principal's proposal, another model's and another scope's are answered as one that never was.
func TestSomebodyElsesProposalIsUnknown(t *testing.T) {
	o := openOffice(t, nil)
	mine := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	background := o.propose(t, authz.Person{}, "refund", "a1", 5).Proposal.ID
	own, err := authz.NewPersonSession(scope, ann)
	require.NoError(t, err)
	require.NoError(t, o.people.Set("elsewhere", facts()))
	elsewhere, err := authz.NewSession("elsewhere", "assistant", authz.For(ann))
	require.NoError(t, err)
	for name, test := range map[string]struct {
		session authz.Session
		id      string
	}{
		"another principal's":         {sessionFor(t, bob), mine},
		"another model's":             {modelFor(t, "second", ann), mine},
		"the model's, for nobody":     {sessionFor(t, authz.Person{}), mine},
		"the model's, without person": {sessionFor(t, ann), background},
		"the person's, without model": {own, mine},
		"another scope's":             {elsewhere, mine},
	} {
		_, known := o.ask(t, test.session, test.id)
		_, random := o.ask(t, test.session, absent)
		require.Equal(t, ledger.RunFailed, registry.CodeOf(known), name)
		require.Equal(t, random, known, name)
		text, public := registry.PublicText(known)
		require.True(t, public)
		require.Equal(t, "there is no such proposal of yours", text)
	}
	require.Equal(t, "waiting", o.status(t, sessionFor(t, ann).WithConversation("another"), mine).Status)
	require.Equal(t, "waiting", o.status(t, sessionFor(t, authz.Person{}), background).Status)
}

// A store's error stays with the operators, and is no reason to believe that there is no such proposal.
func TestAStatusThatCannotBeRead(t *testing.T) {
	store := ledgertest.NewFaulty(new(ledger.Memory))
	o := openOffice(t, func(c *registry.Config) {
		c.Actions, c.Ledger = append(c.Actions[:len(c.Actions)-1], approval.OwnProposals(store, c.Keys)), store
	})
	id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	store.Inject(ledgertest.Fault{Method: "Proposal"})
	_, err := o.ask(t, sessionFor(t, ann), id)
	require.ErrorIs(t, err, ledgertest.ErrFault)
	_, public := registry.PublicText(err)
	require.False(t, public)
}

// misplaced is a store that forgets to look at the scope.
type misplaced struct{ ledger.Store }

func (m misplaced) Proposal(ctx context.Context, _ authz.Scope, id string) (ledger.Proposal, error) {
	return m.Store.Proposal(ctx, scope, id)
}

// Even a store that mixes scopes up shows no scope's proposal in another.
func TestAStatusCrossesNoScope(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	require.NoError(t, o.people.Set("elsewhere", facts()))
	o.rebuild(t, func(c *registry.Config) {
		c.Actions = append(c.Actions[:len(c.Actions)-1], approval.OwnProposals(misplaced{o.book}, c.Keys))
	})
	elsewhere, err := authz.NewSession("elsewhere", "assistant", authz.For(ann))
	require.NoError(t, err)
	_, err = o.ask(t, elsewhere, id)
	text, _ := registry.PublicText(err)
	require.Equal(t, "there is no such proposal of yours", text)
}

// A row that was moved to another person in the database tells that person nothing.
func TestATamperedProposalIsUnknown(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	require.NoError(t, o.book.Tamper(scope, id, func(p *ledger.Proposal) { p.Session = sessionFor(t, sue) }))
	_, err := o.ask(t, sessionFor(t, sue), id)
	text, _ := registry.PublicText(err)
	require.Equal(t, "there is no such proposal of yours", text)
}

// A reason that nobody would read to its end is refused, and the proposal stays open.
func TestAReasonHasALimit(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	require.Equal(t, ledger.Invalid, registry.CodeOf(o.desk.Dismiss(t.Context(), scope, id, sam, strings.Repeat("é", 2049))))
	require.Equal(t, ledger.StateProposed, o.open(t, id, sam).State)
	require.NoError(t, o.desk.Dismiss(t.Context(), scope, id, sam, strings.Repeat("é", 2048)))
}
