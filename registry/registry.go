// Package registry holds what an application can do, and is the only way to do it.
//
// An [Action] is made by [Define] from a typed run function and a [Spec]: name, permission, mode, target and
// whatever an operator should know. [New] builds a [Registry] from all of them and fails with one error that
// lists every fault. After that there are two doors. [Registry.Invoke] is what a caller may do itself: a
// person's change, anyone's read. [Registry.Redeem] is what a proposal recorded: it runs the stored
// parameters of that proposal, once, when an authorized person approves. Both go through the same sequence:
// find, canonicalize and validate, authorize, record that it starts, run, record how it ended, announce.
//
// A model's change is refused by Invoke itself, whatever surface it came through. Redeem claims the proposal
// in the ledger before the run; a claim that cannot be recorded runs nothing, and a claimed proposal is
// spent even if the run fails or the process dies. After the claim, availability and rights are read once
// more. No method returns a run function.
//
// A Registry is immutable and safe for concurrent use. What changes at run time (settings, grants, roles)
// comes from its source of facts at each decision; a changed set of actions is a new Registry.
package registry

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Permissions of the registry itself.
const (
	// ReadProposals is the permission to see every proposal of a scope. The shipped owner has it.
	ReadProposals authz.Permission = "proposals:read"

	// Administrative is the prefix of permissions to change who may do what. Every action that needs one is
	// explicit, and never of mode Execute.
	Administrative = "directory:"
)

// Defaults of a Config.
const (
	DefaultLifetime = 5 * time.Minute
	DefaultRunLimit = 15 * time.Minute
)

// DefaultLimits bound the open proposals if a Config does not say.
var defaultLimits = ledger.Limits{Session: 32, Principal: 64, Scope: 4096}

// Config is what a registry is built from. Actions, Source, Ledger and Keys are required.
type Config struct {
	Actions []*Action

	// ProposeOnly are permissions, say of money, refunds and stock, that no action of mode Execute may need.
	// New fails if one does, disabled or not.
	ProposeOnly []authz.Permission

	Roles  []authz.Role // beside viewer, editor and owner
	Source authz.Source
	Ledger ledger.Store
	Keys   *token.Ring

	Lifetime  time.Duration  // of a proposal and its tokens; default DefaultLifetime, at most the key ring's
	RunLimit  time.Duration  // how long a run may take; default DefaultRunLimit
	Limits    *ledger.Limits // on open proposals; default 32 per session, 64 per principal, 4096 per scope
	SkipReads bool           // do not record reads

	Now    func() time.Time // default time.Now
	Random io.Reader        // for ids; default crypto/rand
	Log    *slog.Logger     // for what cannot be returned; default discards
}

// Fault is one thing that is wrong with a configuration.
type Fault struct {
	Action  string // "" for the configuration itself
	Field   string
	Problem string
}

// String is the fault on one line.
func (f Fault) String() string {
	if f.Action == "" {
		return f.Field + ": " + f.Problem
	}
	return fmt.Sprintf("action %q: %s: %s", f.Action, f.Field, f.Problem)
}

// ConfigError lists every fault of a configuration.
type ConfigError struct{ Faults []Fault }

// Error lists the faults, one on each line.
func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return "registry: the configuration is not valid:\n\t" + strings.Join(lines, "\n\t")
}

// Registry is the set of actions and the two doors to them.
type Registry struct {
	actions  []*Action // by name, without disabled ones; an action's index is its number in the policy
	overseer int       // the policy's number of what ReadProposals guards
	policy   *authz.Policy
	book     ledger.Store
	keys     *token.Ring
	lifetime time.Duration
	runLimit time.Duration
	limits   ledger.Limits
	clicked  map[authz.Permission]bool // propose-only: a person's click is needed
	reads    bool                      // reads are recorded
	now      func() time.Time
	random   io.Reader
	log      *slog.Logger
	changes  hub
	flood    flood
}

// New returns the registry of a configuration. The error is a [*ConfigError].
func New(c Config) (*Registry, error) {
	r := &Registry{
		book: c.Ledger, keys: c.Keys, lifetime: or(c.Lifetime, DefaultLifetime), runLimit: or(c.RunLimit, DefaultRunLimit),
		limits: defaultLimits, clicked: map[authz.Permission]bool{}, reads: !c.SkipReads, now: c.Now, random: c.Random, log: c.Log,
	}
	if c.Limits != nil {
		r.limits = *c.Limits
	}
	for _, p := range c.ProposeOnly {
		r.clicked[p] = true
	}
	if r.now == nil {
		r.now = time.Now
	}
	if r.random == nil {
		r.random = rand.Reader
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	faults := c.faults()
	for _, a := range c.Actions {
		if a != nil && !a.disabled {
			r.actions = append(r.actions, a.clone())
		}
	}
	slices.SortStableFunc(r.actions, func(a, b *Action) int { return strings.Compare(a.Name, b.Name) })
	if len(faults) == 0 {
		var err error
		if r.policy, err = authz.NewPolicy(c.Source, r.tools(), c.Roles); err != nil {
			faults = append(faults, Fault{"", "policy", err.Error()})
		}
	}
	if len(faults) > 0 {
		return nil, &ConfigError{faults}
	}
	return r, nil
}

func (r *Registry) tools() []authz.Tool {
	var tools []authz.Tool
	for _, a := range r.actions {
		tools = append(tools, authz.Tool{
			Name: a.Name, Permission: a.Permission, Ask: a.Ask, Mode: a.Mode, Explicit: a.Explicit, On: a.on, Whole: a.whole,
		})
	}
	r.overseer = len(tools)
	return append(tools, authz.Tool{Name: string(ReadProposals), Permission: ReadProposals, Mode: authz.Read, Explicit: true})
}

// faults looks at everything that no single action can know.
func (c *Config) faults() (faults []Fault) {
	fault := func(action, field, problem string) { faults = append(faults, Fault{action, field, problem}) }
	if c.Source == nil {
		fault("", "Source", "is required")
	}
	if c.Ledger == nil {
		fault("", "Ledger", "is required")
	}
	if c.Keys == nil || c.Keys.Environment() == "" {
		fault("", "Keys", "is required")
	} else if c.Lifetime < 0 || or(c.Lifetime, DefaultLifetime) > c.Keys.MaxLife() {
		fault("", "Lifetime", fmt.Sprintf("must be between a second and the key ring's %v", c.Keys.MaxLife()))
	}
	if c.Lifetime%time.Second != 0 || c.RunLimit < 0 {
		fault("", "Lifetime", "and RunLimit are positive, and a lifetime is whole seconds")
	}
	if l := c.Limits; l != nil && min(l.Session, l.Principal, l.Scope) < 0 {
		fault("", "Limits", "must not be negative; zero means no limit")
	}
	names, uses := map[string]string{}, map[authz.Permission][]*Action{}
	for _, a := range c.Actions {
		if a == nil {
			fault("", "Actions", "one is nil")
			continue
		}
		faults = append(faults, a.faults...)
		if a.run == nil {
			fault(a.Name, "Actions", "one was not made by Define")
		}
		same := strings.ReplaceAll(strings.ToLower(a.Name), "-", "_")
		if other, taken := names[same]; taken {
			fault(a.Name, "name", fmt.Sprintf("is also %q for somebody who ignores case or mixes up - and _", other))
		}
		names[same] = a.Name
		for _, p := range slices.Compact([]authz.Permission{a.Permission, a.Ask}) {
			uses[p] = append(uses[p], a)
			if a.Mode == authz.Execute && slices.Contains(c.ProposeOnly, p) {
				fault(a.Name, "Mode", fmt.Sprintf("is execute, but %q is propose-only", p))
			}
		}
		if administrative(a) && (!a.Explicit || a.Mode == authz.Execute || a.Ask != a.Permission) {
			fault(a.Name, "Permission", fmt.Sprintf("%q is administrative: the action must be explicit, ask for the same, and not be of mode execute", a.Permission))
		}
		if a.Permission == ReadProposals || a.Ask == ReadProposals {
			fault(a.Name, "Permission", fmt.Sprintf("%q is the registry's own", ReadProposals))
		}
	}
	for _, p := range c.ProposeOnly {
		if uses[p] == nil {
			fault("", "ProposeOnly", fmt.Sprintf("no action has the permission %q", p))
		}
	}
	for _, a := range c.Actions {
		if a == nil || a.Mode != authz.Read {
			continue
		}
		for _, b := range uses[a.Permission] {
			if b.Mode != authz.Read {
				fault(a.Name, "Permission", fmt.Sprintf("%q is shared with %q, which is no read", a.Permission, b.Name))
			}
		}
	}
	return faults
}

func administrative(a *Action) bool {
	return strings.HasPrefix(string(a.Permission), Administrative) || strings.HasPrefix(string(a.Ask), Administrative)
}

// Actions returns copies of the actions, sorted by name.
func (r *Registry) Actions() []*Action {
	list := make([]*Action, len(r.actions))
	for i, a := range r.actions {
		list[i] = a.clone()
	}
	return list
}

// Lookup returns a copy of the action of that name, or nil.
func (r *Registry) Lookup(name string) *Action {
	_, a := r.find(name)
	return a.clone()
}

// Mode returns the mode of the action of that name, or zero if there is none.
func (r *Registry) Mode(name string) authz.Mode {
	if _, a := r.find(name); a != nil {
		return a.Mode
	}
	return 0
}

func (r *Registry) find(name string) (int, *Action) {
	i, ok := slices.BinarySearchFunc(r.actions, name, func(a *Action, n string) int { return strings.Compare(a.Name, n) })
	if !ok {
		return 0, nil
	}
	return i, r.actions[i]
}

// Ledger returns the store that the registry writes to.
func (r *Registry) Ledger() ledger.Store { return r.book }

// Keys returns the key ring.
func (r *Registry) Keys() *token.Ring { return r.keys }

// Now reads the registry's clock, in whole microseconds.
func (r *Registry) Now() time.Time { return ledger.Time(r.now()) }

// NewID returns a new UUID of version 7 for an instant.
func (r *Registry) NewID(at time.Time) (string, error) { return ledger.NewID(at, r.random) }

// Log returns the registry's logger.
func (r *Registry) Log() *slog.Logger { return r.log }

// AppendTools appends the indexes, in the order of [Registry.Actions], of the actions that a session may see.
// An error leaves dst as it was: a catalog that cannot be worked out is empty.
func (r *Registry) AppendTools(ctx context.Context, dst []int, s authz.Session) ([]int, error) {
	if s.IsZero() {
		return dst, denied(ledger.Unavailable, authz.Decision{Reason: authz.ReasonInvalidSession})
	}
	v, err := r.policy.View(ctx, s.Scope(), s.Actors()...)
	if err != nil {
		return dst, r.noFacts(err)
	}
	n := len(dst)
	dst = v.AppendTools(dst, s)
	if len(dst) > n && dst[len(dst)-1] == r.overseer {
		dst = dst[:len(dst)-1]
	}
	return dst, nil
}

// noFacts is the refusal of a decision for which there are no facts.
func (r *Registry) noFacts(err error) *Refusal {
	if errors.Is(err, authz.ErrUnknownScope) {
		return &Refusal{Code: ledger.Unavailable, Reason: "unknown_scope", Err: err}
	}
	return &Refusal{Code: ledger.RunFailed, Reason: "no_facts", Err: err}
}
