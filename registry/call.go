package registry

import (
	"context"
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
)

// Call asks for an action with parameters as they were received.
type Call struct {
	Session authz.Session // may be zero inside a run function: then it is the caller's
	Action  string
	Params  []byte
}

// Redemption asks to run what a proposal recorded. It carries no parameters: there is no second copy that
// could run instead.
type Redemption struct {
	Scope    authz.Scope
	Proposal string
	Operator authz.Person // who approves, as the host's login says
	Token    token.Token
	Shown    canon.Hash // of the parameters that the operator saw; compared, never run
}

// Result is what a run returned.
type Result struct {
	Value    any    // as the run function returned it
	JSON     []byte // the same as JSON text
	Proposal string // that was redeemed; empty for Invoke
}

// Current tells a run function who acts, without it knowing whether that is a model.
type Current struct {
	Session  authz.Session
	Operator authz.ID // who approved; the actor itself for a person's own call
	Action   string
	Proposal string // "" for a call that needed no approval
	Claim    string // unique to this run: fit for an idempotency key
	At       time.Time
}

// CallFrom returns what a run function's context says of its call, and whether ctx is such a context.
func CallFrom(ctx context.Context) (Current, bool) {
	f, ok := ctx.Value(frameKey{}).(*frame)
	if !ok {
		return Current{}, false
	}
	return f.current, true
}

// May says whether the caller of the present run, and everybody on whose behalf it works, has a permission on
// a path. A read without a declared target filters its results by it. Outside a run it is false.
func May(ctx context.Context, permission authz.Permission, path authz.Path) bool {
	f, ok := ctx.Value(frameKey{}).(*frame)
	return ok && f.view.May(f.current.Session, permission, path)
}

type frameKey struct{}

// frame is what a run's context carries.
type frame struct {
	current Current
	view    *authz.View
	mode    authz.Mode
}

func frameOf(ctx context.Context) *frame {
	f, _ := ctx.Value(frameKey{}).(*frame)
	return f
}
