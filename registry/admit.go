package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Admission is a call that passed every check: something to look at and to propose, it cannot run anything.
type Admission struct {
	Session   authz.Session
	Action    *Action
	Params    canon.Object
	Targets   []authz.Path
	Version   string
	At        time.Time // the one reading of the clock for this decision
	ExpiresAt time.Time // of a proposal made now
	Limits    ledger.Limits
	MayDecide bool   // the person asked about may approve it
	Standing  string // id of a standing grant that covers it; spent or not, the claim will tell
	Waits     string // why the model's standing grants do not cover it; empty if one does or there are none
}

// request is a call on its way through the checks.
type request struct {
	session  authz.Session
	name     string
	input    []byte
	question authz.Question
	person   authz.Person // the operator
	asked    bool         // the person is only asked about, and decides nothing
	at       time.Time

	row        *ledger.Proposal // that was proposed before
	redemption *Redemption      // that asks to run it
	grant      *authz.Standing  // that approves it in advance
	standing   bool             // it is to run on a standing grant
	inside     bool             // the call comes from a run function, in which no grant approves anything

	view    *authz.View
	index   int
	action  *Action
	params  canon.Object
	proved  bool // params have passed before, for the same action
	value   any
	targets []authz.Path
	version string
}

// Admit says whether a session may propose an action with these parameters, and whether the given person,
// who may be nobody, may approve it. It is for proposing and for hosts that want to know beforehand; a read
// is admitted if it may run. The error is a [*Refusal], which is recorded.
func (r *Registry) Admit(ctx context.Context, c Call, person authz.Person) (Admission, error) {
	q := &request{session: c.Session, name: c.Action, input: c.Params, question: authz.ToAsk, person: person, asked: true, at: r.Now()}
	if err := r.admit(ctx, q); err != nil {
		return Admission{}, r.refuse(ctx, q, err)
	}
	return r.admission(q), nil
}

func (r *Registry) admission(q *request) Admission {
	a := Admission{
		Session: q.session, Action: q.action.clone(), Params: q.params, Targets: slices.Clone(q.targets), Version: q.version,
		At: q.at, ExpiresAt: q.at.Add(r.lifetime).Truncate(time.Second), Limits: r.limits,
		MayDecide: q.mayDecide().Allowed,
	}
	if grants, why := r.covering(q); len(grants) > 0 {
		a.Standing = grants[0].ID
	} else if why != authz.ReasonNoGrant {
		a.Waits = string(why)
	}
	return a
}

// Available says whether a session could use an action at all, without parameters: it is in the catalog, and
// the principal could be allowed too. The error is a [*Refusal]; nothing is recorded.
func (r *Registry) Available(ctx context.Context, s authz.Session, name string) error {
	q := &request{session: s, name: name, at: r.Now()}
	if err := r.enter(ctx, q); err != nil {
		return err
	}
	if err := r.available(ctx, q); err != nil {
		return err
	}
	if !q.view.Could(q.session, q.index) {
		return &Refusal{Code: ledger.Forbidden, Reason: string(authz.ReasonNoPermission)}
	}
	return nil
}

// admit is the one sequence of checks that Admit, Review, Invoke and Redeem share.
func (r *Registry) admit(ctx context.Context, q *request) error {
	if err := r.enter(ctx, q); err != nil {
		return err
	}
	if err := r.available(ctx, q); err != nil {
		return err
	}
	if err := r.understand(ctx, q); err != nil {
		return err
	}
	if q.row != nil {
		if err := r.unchanged(ctx, q); err != nil {
			return err
		}
		if q.redemption != nil {
			if err := r.verify(q, q.redemption.Token, q.at); err != nil {
				return err
			}
			if q.redemption.Shown != q.params.Hash() {
				return &Refusal{Code: ledger.BadToken, Reason: string(token.ReasonParamsChanged), Err: errors.New("other parameters were shown")}
			}
		}
		return q.authorize()
	}
	if err := q.authorize(); err != nil {
		return err
	}
	return r.readVersion(ctx, q)
}

// enter settles whose call it is. A call inside a run is its caller's, or a delegation of it.
func (r *Registry) enter(ctx context.Context, q *request) error {
	if f := frameOf(ctx); f != nil {
		q.inside = true
		if q.session.IsZero() {
			q.session = f.current.Session
		}
		if !q.session.Within(f.current.Session) {
			other := q.session
			q.session = f.current.Session // whose call it is, for the record
			return &Refusal{
				Code: ledger.Forbidden, Reason: string(authz.ReasonOtherIdentity),
				Err: fmt.Errorf("as %q in scope %q and run %q", other.Actor(), other.Scope(), other.Run()),
			}
		}
		q.session = q.session.WithTools(f.current.Session.Tools()) // an allowlist only narrows
	}
	if q.session.IsZero() {
		return denied(ledger.Unavailable, authz.Decision{Reason: authz.ReasonInvalidSession})
	}
	return nil
}

// available finds the action and asks whether it is there for this session, as it was proposed.
func (r *Registry) available(ctx context.Context, q *request) (err error) {
	actors := q.session.Actors()
	if !q.person.IsZero() {
		actors = append(actors, q.person.ID())
	}
	if q.view, err = r.policy.View(ctx, q.session.Scope(), actors...); err != nil {
		return r.noFacts(err)
	}
	if q.index, q.action = r.find(q.name); q.action == nil {
		return &Refusal{Code: ledger.Unknown, Reason: string(authz.ReasonUnknownTool)}
	}
	if d := q.view.Available(q.session, q.index); !d.Allowed {
		return denied(ledger.Unavailable, d)
	}
	if f := frameOf(ctx); f != nil && f.mode == authz.Read && q.action.Mode != authz.Read {
		return &Refusal{Code: ledger.Forbidden, Reason: string(authz.ReasonChangeInRead)}
	}
	if q.row != nil && q.row.Definition != q.action.Definition {
		return &Refusal{Code: ledger.Stale, Err: errors.New("the action's definition changed")}
	}
	return nil
}

// understand canonicalizes and validates the parameters, once, and learns from the host what they touch. What
// a proposal stores is canonical already, and validated again.
func (r *Registry) understand(ctx context.Context, q *request) (err error) {
	switch {
	case q.proved: // by the request that this one repeats
		q.value, err = q.action.again(q.params)
	case q.row != nil:
		q.params = q.row.Params
		if err = q.action.schema.Validate(q.params); err == nil {
			q.value, err = q.action.decode(q.params)
		}
	default:
		if q.params, err = q.action.schema.Parse(q.input, q.action.options); err == nil {
			q.value, err = q.action.decode(q.params)
		}
	}
	if err != nil {
		return invalid(err)
	}
	if q.row == nil && !q.view.Could(q.session, q.index) {
		return &Refusal{Code: ledger.Forbidden, Reason: string(authz.ReasonNoPermission)} // whatever the target
	}
	return r.locate(ctx, q)
}

// locate asks the host for the targets.
func (r *Registry) locate(ctx context.Context, q *request) (err error) {
	q.targets = []authz.Path{q.action.on}
	if q.action.target == nil {
		return nil
	}
	q.targets, err = guarded(func() ([]authz.Path, error) { return q.action.target(ctx, q.value) })
	if err == nil && len(q.targets) == 0 {
		err = ErrNoTarget
	}
	return lookupRefusal(err, "target")
}

// readVersion asks the host for the version of the targets of a change.
func (r *Registry) readVersion(ctx context.Context, q *request) (err error) {
	if q.action.version != nil {
		q.version, err = guarded(func() (string, error) { return q.action.version(ctx, q.value) })
	}
	return lookupRefusal(err, "version")
}

func lookupRefusal(err error, what string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNoTarget) || errors.Is(err, authz.ErrPath):
		return &Refusal{Code: ledger.Forbidden, Reason: string(authz.ReasonNoTarget), Err: err}
	}
	return &Refusal{Code: ledger.RunFailed, Reason: what, Err: err}
}

// unchanged compares what a proposal was about with what it would be about now.
func (r *Registry) unchanged(ctx context.Context, q *request) error {
	if !slices.Equal(q.targets, q.row.Targets) {
		return &Refusal{Code: ledger.Stale, Err: errors.New("the parameters name other targets now")}
	}
	if err := r.readVersion(ctx, q); err != nil {
		return err
	}
	if q.version != q.row.Version {
		return &Refusal{Code: ledger.Stale, Err: errors.New("the target changed")}
	}
	return nil
}

// verify judges a token against the row and the acting person.
func (r *Registry) verify(q *request, t token.Token, at time.Time) error {
	b, err := Binding(q.row, q.person, at)
	if err == nil {
		err = r.keys.Verify(t, b, at)
	}
	if err != nil {
		return badToken(err)
	}
	return nil
}

// Binding returns what a token for a person's approval of a proposal ties together, issued at an instant.
func Binding(p *ledger.Proposal, person authz.Person, issued time.Time) (token.Binding, error) {
	id, err := uuid.Parse(p.ID)
	if err != nil {
		return token.Binding{}, fmt.Errorf("registry: proposal id: %w", err)
	}
	return token.Binding{
		Scope: string(p.Session.Scope()), Proposal: id, Tool: p.Action, User: string(person.ID()),
		Params: p.Params.Hash(), Issued: issued, Expires: p.ExpiresAt,
	}, nil
}

// authorize asks everybody on whose authority the call depends about its targets.
func (q *request) authorize() error {
	question := q.question
	if q.action.Mode == authz.Read {
		question = authz.ToPerform
	}
	d := q.view.Check(q.session, q.index, q.targets, question)
	if d.Allowed {
		return nil
	}
	if d.Reason == authz.ReasonNoPermission && q.session.Kind() == authz.Model && !q.action.whole && q.view.Could(q.session, q.index) {
		d.Reason = authz.ReasonNotOnTarget // elsewhere it could be allowed
	}
	return denied(ledger.Forbidden, d)
}

// mayDecide says whether the request's person may approve what it is about.
func (q *request) mayDecide() authz.Decision {
	d := q.view.Person(q.person, q.index, q.targets, authz.ToPerform)
	if d.Allowed && q.action.FourEyes && q.behind(q.person.ID()) {
		return authz.Decision{Reason: authz.ReasonSamePerson, Who: q.person.ID()}
	}
	return d
}

// behind reports whether a person is one of the humans behind the request.
func (q *request) behind(id authz.ID) bool {
	return slices.Contains(q.session.Actors(), id) || q.row != nil && slices.Contains(q.row.RevisedBy, id)
}

// guarded calls a host's function and makes a panic its error.
func guarded[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
