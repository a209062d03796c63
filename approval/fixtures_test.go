package approval_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

const scope authz.Scope = "shop"

// Who is who. Staff perform everything; customers ask, each below /customers/ID; audra sees all proposals and
// decides none; stan has no rights.
var (
	sam   = authz.LoggedIn("sam") // staff
	sue   = authz.LoggedIn("sue") // staff
	ann   = authz.LoggedIn("ann") // customer
	bob   = authz.LoggedIn("bob") // customer
	audra = authz.LoggedIn("audra")
	stan  = authz.LoggedIn("stan")
)

// absent is an id that no proposal has.
const absent = "00000000-0000-7000-8000-000000000000"

type orderParams struct {
	Order string `json:"order" jsonschema:"maxLength=32"`
}

type refundParams struct {
	Order string `json:"order" jsonschema:"maxLength=32"`
	Cents int64  `json:"cents" jsonschema:"minimum=1,maximum=100000"`
}

// office is a desk with everything behind it. Hooks are set before the calls that they are for.
type office struct {
	keys   *token.Ring
	people *authz.Memory
	book   *ledger.Memory
	reg    *registry.Registry
	desk   *approval.Desk
	clock  atomic.Int64 // microseconds
	runs   atomic.Int64

	run     func(context.Context, refundParams) (any, error) // instead of what a change does
	version func() string                                    // of what a change is about
}

// openOffice opens an office; change may alter its configuration before it is built.
func openOffice(t *testing.T, change func(*registry.Config)) *office {
	t.Helper()
	o := &office{people: new(authz.Memory), book: new(ledger.Memory)}
	o.clock.Store(time.Date(2026, 3, 2, 9, 0, 0, 250_000_000, time.UTC).UnixMicro())
	require.NoError(t, o.people.Set(scope, facts()))
	o.rebuild(t, change)
	return o
}

// rebuild makes a new registry and desk over the same people and the same ledger, as a new release would.
func (o *office) rebuild(t *testing.T, change func(*registry.Config)) {
	t.Helper()
	keys, err := token.NewRing("test", token.Key{ID: "k1", Secret: []byte("a ring secret of 32 bytes: 012345")})
	require.NoError(t, err)
	o.keys = keys
	c := registry.Config{
		Actions: o.actions("1"), Source: o.people, Ledger: o.book, Keys: keys, Now: o.now,
		ProposeOnly: []authz.Permission{"refunds:edit", "payments:edit"},
		Roles: []authz.Role{
			{Name: "staff", Permissions: []authz.Permission{"orders:read", "refunds:edit", "payments:edit", "labels:edit", approval.ReadOwnProposals}},
			{Name: "auditor", Permissions: []authz.Permission{registry.ReadProposals}},
		},
	}
	if change != nil {
		change(&c)
	}
	o.reg, err = registry.New(c)
	require.NoError(t, err)
	o.desk = approval.NewDesk(o.reg)
}

func facts() authz.Facts {
	human := func(id authz.ID, roles ...string) authz.Actor {
		return authz.Actor{ID: id, Kind: authz.Human, Active: true, Roles: roles}
	}
	customer := func(id authz.ID) authz.Actor {
		a := human(id)
		a.Overrides = []authz.Override{
			{At: authz.MustPath("/customers/" + string(id)), Effect: authz.Allow, Of: []authz.Permission{"refunds:request", "payments:request"}},
			{At: authz.Root(), Effect: authz.Allow, Of: []authz.Permission{approval.ReadOwnProposals}},
		}
		return a
	}
	model := func(id authz.ID) authz.Actor {
		return authz.Actor{ID: id, Kind: authz.Model, Active: true, Roles: []string{authz.Editor}}
	}
	return authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute},
		Actors: []authz.Actor{
			human("sam", "staff"), human("sue", "staff"), human("audra", "auditor"), human("stan"),
			customer("ann"), customer("bob"), model("assistant"), model("second"),
		},
	}
}

func (o *office) actions(revision string) []*registry.Action {
	owners := map[string]string{"a1": "ann", "a2": "ann", "b1": "bob"}
	at := func(order string) ([]authz.Path, error) {
		owner, ok := owners[order]
		if !ok {
			return nil, registry.ErrNoTarget
		}
		return []authz.Path{authz.MustPath("/customers/" + owner + "/" + order)}, nil
	}
	change := func(name string, mode authz.Mode, permission, ask authz.Permission, fourEyes bool) *registry.Action {
		return registry.Define(name, registry.Spec[refundParams]{
			Title: "Title of " + name, Description: "Changes an order.", Mode: mode, Permission: permission, Ask: ask, FourEyes: fourEyes,
			Sentence: "Pay {cents} cents for {order}.", Risk: registry.RiskHigh, Reach: "one order", Undo: "none", Revision: revision,
			Target: func(_ context.Context, p refundParams) ([]authz.Path, error) { return at(p.Order) },
			Version: func(context.Context, refundParams) (string, error) {
				if o.version != nil {
					return o.version(), nil
				}
				return "1", nil
			},
		}, func(ctx context.Context, p refundParams) (any, error) {
			o.runs.Add(1)
			if o.run != nil {
				return o.run(ctx, p)
			}
			return p.Cents, nil
		})
	}
	return []*registry.Action{
		registry.Define("find", registry.Spec[orderParams]{
			Description: "Finds an order.", Mode: authz.Read, Permission: "orders:read",
		}, func(_ context.Context, p orderParams) (string, error) { return p.Order, nil }),
		change("refund", authz.Propose, "refunds:edit", "refunds:request", false),
		change("pay", authz.Propose, "payments:edit", "payments:request", true),
		change("label", authz.Execute, "labels:edit", "", false),
		approval.OwnProposals(o.book, o.keys),
	}
}

func (o *office) now() time.Time { return time.UnixMicro(o.clock.Load()).UTC() }

func (o *office) pass(d time.Duration) { o.clock.Add(d.Microseconds()) }

// edit changes the facts, with a pointer to one actor at hand.
func (o *office) edit(t *testing.T, id authz.ID, change func(*authz.Facts, *authz.Actor)) {
	t.Helper()
	require.NoError(t, o.people.Edit(t.Context(), scope, func(f *authz.Facts) error {
		i := slices.IndexFunc(f.Actors, func(a authz.Actor) bool { return a.ID == id })
		change(f, &f.Actors[i])
		return nil
	}))
}

// sessionFor is the assistant's session for a person, or in the background for nobody.
func sessionFor(t *testing.T, person authz.Person) authz.Session {
	return modelFor(t, "assistant", person)
}

func modelFor(t *testing.T, model authz.ID, person authz.Person) authz.Session {
	t.Helper()
	behalf := authz.For(person)
	if person.IsZero() {
		behalf = authz.Background()
	}
	s, err := authz.NewSession(scope, model, behalf)
	require.NoError(t, err)
	return s
}

func call(s authz.Session, action, order string, cents int) registry.Call {
	return registry.Call{Session: s, Action: action, Params: params(order, cents)}
}

func params(order string, cents int) []byte {
	return fmt.Appendf(nil, `{"order":%q,"cents":%d}`, order, cents)
}

// propose proposes as the assistant for a person.
func (o *office) propose(t *testing.T, person authz.Person, action, order string, cents int) approval.Proposed {
	t.Helper()
	p, err := o.desk.Propose(t.Context(), call(sessionFor(t, person), action, order, cents))
	require.NoError(t, err)
	return p
}

// open opens a proposal for a person who may at least see it.
func (o *office) open(t *testing.T, id string, person authz.Person) approval.Opening {
	t.Helper()
	opening, err := o.desk.Open(t.Context(), scope, id, person)
	require.NoError(t, err)
	require.Equal(t, opening.Refusal == nil, !opening.Token.IsZero(), "a token exactly where there is no refusal")
	return opening
}

// approve opens and approves as one person.
func (o *office) approve(t *testing.T, id string, person authz.Person) error {
	t.Helper()
	_, err := o.desk.Approve(t.Context(), o.open(t, id, person).Redemption())
	return err
}

// row is a proposal as the ledger has it.
func (o *office) row(t *testing.T, id string) ledger.Proposal {
	t.Helper()
	p, err := o.book.Proposal(t.Context(), scope, id)
	require.NoError(t, err)
	return p
}

// events lists what the audit trail says about a proposal.
func (o *office) events(t *testing.T, id string) []string {
	t.Helper()
	records, err := o.book.Audit(t.Context(), ledger.AuditQuery{Scope: scope, Proposal: id})
	require.NoError(t, err)
	var events []string
	for _, r := range records {
		events = append(events, string(r.Event)+" "+string(r.Code)+" "+string(r.Operator))
	}
	return events
}

// requireRefused wants a typed refusal with a code.
func requireRefused(t *testing.T, code ledger.Code, err error) *registry.Refusal {
	t.Helper()
	require.Error(t, err)
	r, ok := errors.AsType[*registry.Refusal](err)
	require.True(t, ok, "not a Refusal: %v", err)
	require.Equal(t, code, r.Code, "%v", err)
	return r
}
