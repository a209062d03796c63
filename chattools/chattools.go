// Package chattools is the model's side: what a model may see, and the one gate its calls pass.
//
// A [Gate] stands on a desk. [Gate.Catalog] lists the tools that one session may use now, filtered before the
// list reaches a model. [Gate.Call] takes one call as the model made it and gives exactly one [Answer], which
// is safe to hand back as it is: reads run at once; a change becomes a proposal and is answered with
// [NeedsApproval]. Whatever the catalog said, everything is checked again at the call. A tool that the
// session may not use is answered, byte for byte, as one that does not exist.
//
// A surface (a chat loop, an MCP server, an agent framework) translates its protocol into calls and answers,
// and decides nothing. An Answer holds no token, no error text that its author did not mark as public, and
// nothing about rules, roles or other people.
package chattools

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Tool is one entry of a catalog. It is shared by all sessions; do not write to it.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // of the parameters
	Mode        authz.Mode      `json:"mode"`
	Destructive bool            `json:"destructive,omitempty"`
	Idempotent  bool            `json:"idempotent,omitempty"`
}

// Gate is the only way for a model to act. It is immutable and safe for concurrent use.
type Gate struct {
	desk  *approval.Desk
	tools []*Tool // in the order of the registry's actions

	indexes sync.Pool // of *[]int, for catalogs on their way
}

// NewGate returns the gate in front of a desk.
func NewGate(desk *approval.Desk) *Gate {
	g := &Gate{desk: desk}
	for _, a := range desk.Registry().Actions() {
		g.tools = append(g.tools, &Tool{a.Name, a.Title, a.Description, a.Schema, a.Mode, a.Destructive, a.Idempotent})
	}
	return g
}

// Desk returns the desk behind the gate.
func (g *Gate) Desk() *approval.Desk { return g.desk }

// Catalog returns the tools that a session may use now, sorted by name. Ask for it again at every turn:
// settings, grants and roles change. The error is a [*registry.Refusal], also when the host's source of facts
// panics; there is no partial catalog.
func (g *Gate) Catalog(ctx context.Context, s authz.Session) ([]*Tool, error) {
	return g.AppendCatalog(ctx, nil, s)
}

// AppendCatalog appends the catalog to dst, which an error leaves as it was.
func (g *Gate) AppendCatalog(ctx context.Context, dst []*Tool, s authz.Session) ([]*Tool, error) {
	buf, _ := g.indexes.Get().(*[]int)
	if buf == nil {
		buf = new([]int)
	}
	defer g.indexes.Put(buf)
	indexes, err := g.visible(ctx, (*buf)[:0], s)
	if err != nil {
		return dst, err
	}
	*buf = indexes
	dst = slices.Grow(dst, len(indexes))
	for _, i := range indexes {
		dst = append(dst, g.tools[i])
	}
	return dst, nil
}

func (g *Gate) visible(ctx context.Context, dst []int, s authz.Session) (indexes []int, err error) {
	defer func() {
		if p := recover(); p != nil {
			indexes, err = nil, g.panicked(ctx, p)
		}
	}()
	return g.desk.Registry().AppendTools(ctx, dst, s)
}

// panicked is the refusal of a call during which the host's source or store panicked. Run functions and what
// else belongs to an action are guarded by the registry.
func (g *Gate) panicked(ctx context.Context, p any) error {
	g.desk.Registry().Log().ErrorContext(ctx, "a source or a store panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	return &registry.Refusal{Code: ledger.RunFailed, Reason: "panic", Err: fmt.Errorf("panic: %v", p)}
}

// Call is one call as a model made it.
type Call struct {
	ID        string          // as the model gave it; it comes back with the answer and identifies nothing
	Name      string          // of the tool
	Arguments json.RawMessage // as received; never repaired
	Truncated bool            // the model's turn was cut off, so the call is not what was meant; it never runs
}

// Call answers one call. There is always exactly one answer, also when the host's code panics.
func (g *Gate) Call(ctx context.Context, s authz.Session, c Call) Answer {
	a := g.answer(ctx, s, c)
	if c.Truncated && a.Status == Invalid {
		a.Text = textTruncated
	}
	a.CallID = c.ID
	return a
}

func (g *Gate) answer(ctx context.Context, s authz.Session, c Call) (a Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = refused(g.panicked(ctx, p))
		}
	}()
	call := registry.Call{Session: s, Action: c.Name, Params: c.Arguments}
	if c.Truncated {
		call.Params = nil // a call that was cut off is judged up to its parameters, and those it does not have
	}
	if !g.changes(c.Name) {
		r, err := g.desk.Registry().Invoke(ctx, call)
		if err != nil {
			return refused(err)
		}
		return Answer{Status: Done, Result: r.JSON}
	}
	p, err := g.desk.Propose(ctx, call)
	if err != nil {
		return refused(err)
	}
	waits := Answer{Status: NeedsApproval, Text: textWaiting, Proposal: p.Proposal.ID}
	if p.Standing == "" {
		return waits
	}
	r, err := g.desk.Registry().RedeemStanding(ctx, p.Proposal.Session.Scope(), p.Proposal.ID)
	if err != nil {
		if registry.Undecided(err) {
			return waits // for a person, who may say yes where the grant no longer does
		}
		a := refused(err)
		if a.Status != Unknown { // which looks the same for every name
			a.Proposal = p.Proposal.ID
		}
		return a
	}
	return Answer{Status: Done, Result: r.JSON, Proposal: p.Proposal.ID}
}
