package authz

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Person is a human whom the host's own login has authenticated for the present request. It is a type of its
// own so that a string from a tool call cannot be passed for one. The zero Person is nobody, and everything
// refuses it.
type Person struct{ id ID }

// LoggedIn returns the Person of an actor whom the host has just authenticated. Call it where the host's
// login is checked, and nowhere else. Whether the actor exists, is human and active is asked of the facts at
// each decision.
func LoggedIn(id ID) Person { return Person{id} }

// ID returns the actor's id.
func (p Person) ID() ID { return p.id }

// IsZero reports whether p is nobody.
func (p Person) IsZero() bool { return p.id == "" }

// Behalf says for whom a model works: [For] a person, or in the [Background]. The zero Behalf says neither,
// and [NewSession] refuses it.
type Behalf struct {
	principal  ID
	background bool
}

// For returns the Behalf of a model that works for a person in a conversation.
func For(p Person) Behalf { return Behalf{principal: p.id} }

// Background returns the Behalf of a model that works for nobody in particular.
func Background() Behalf { return Behalf{background: true} }

// Allowlist narrows the tools of one session. [Any] narrows nothing; [Only] of no names is nothing. The zero
// Allowlist is nothing.
type Allowlist struct {
	any   bool
	names []string
}

// Any returns the allowlist that narrows nothing.
func Any() Allowlist { return Allowlist{any: true} }

// Only returns the allowlist of the named tools. Names that match no tool allow nothing.
func Only(names ...string) Allowlist {
	names = slices.Clone(names)
	slices.Sort(names)
	return Allowlist{names: slices.Compact(names)}
}

// Has reports whether the allowlist has the named tool.
func (a Allowlist) Has(name string) bool {
	if a.any {
		return true
	}
	_, ok := slices.BinarySearch(a.names, name)
	return ok
}

// Names returns the names, and whether the list is restricted to them.
func (a Allowlist) Names() (names []string, restricted bool) {
	return slices.Clone(a.names), !a.any
}

func (a Allowlist) and(b Allowlist) Allowlist {
	if a.any {
		return b
	}
	var names []string
	for _, n := range a.names {
		if b.Has(n) {
			names = append(names, n)
		}
	}
	return Allowlist{names: names}
}

// ErrSession is the error for a session that was not built by a constructor, or was built from incomplete
// identity.
var ErrSession = errors.New("authz: not a session")

// Session says who is calling: a model with its principal or in the background, or a person; in which scope;
// in which run, from where, in which conversation; and an allowlist that can only narrow. It is built from
// authenticated identity, never from what a model sent, and is an immutable value. The zero Session is
// refused everywhere.
type Session struct {
	scope        Scope
	actor        ID
	kind         Kind
	behalf       Behalf
	via          []ID // further delegation, nearest first
	tools        Allowlist
	run          string
	origin       string
	conversation string
}

// NewSession returns the session of a model: in a scope, for a person or in the background. Whether the
// actors exist, are active and of the right kind is asked of the facts at each decision. The error is
// [ErrSession].
func NewSession(scope Scope, model ID, behalf Behalf) (Session, error) {
	switch {
	case scope == "":
		return Session{}, fmt.Errorf("%w: no scope", ErrSession)
	case model == "":
		return Session{}, fmt.Errorf("%w: no model", ErrSession)
	case behalf.principal == "" && !behalf.background:
		return Session{}, fmt.Errorf("%w: neither for a person nor in the background", ErrSession)
	case behalf.principal == model:
		return Session{}, fmt.Errorf("%w: a model cannot be its own principal", ErrSession)
	}
	return Session{scope: scope, actor: model, kind: Model, behalf: behalf, tools: Any()}, nil
}

// NewPersonSession returns the session of a person who acts without a model. The error is [ErrSession].
func NewPersonSession(scope Scope, person Person) (Session, error) {
	switch {
	case scope == "":
		return Session{}, fmt.Errorf("%w: no scope", ErrSession)
	case person.IsZero():
		return Session{}, fmt.Errorf("%w: nobody is logged in", ErrSession)
	}
	return Session{scope: scope, actor: person.id, kind: Human, tools: Any()}, nil
}

// WithRun returns s with the id of the run it belongs to, for the audit trail.
func (s Session) WithRun(id string) Session { s.run = id; return s }

// WithOrigin returns s with the surface it came through, such as "chat" or "mcp", for the audit trail.
func (s Session) WithOrigin(surface string) Session { s.origin = surface; return s }

// WithConversation returns s with the id of its conversation. Limits on open proposals count by it.
func (s Session) WithConversation(id string) Session { s.conversation = id; return s }

// WithTools returns s narrowed to the tools that its own allowlist and a have in common.
func (s Session) WithTools(a Allowlist) Session { s.tools = s.tools.and(a); return s }

// Delegate returns the session of another model that works for the model of s. Its authority is the
// intersection of the whole chain. The error is [ErrSession] if s is not a model's session or the model is
// in the chain already.
func (s Session) Delegate(model ID) (Session, error) {
	if s.kind != Model || model == "" || slices.Contains(s.Actors(), model) {
		return Session{}, fmt.Errorf("%w: cannot delegate", ErrSession)
	}
	s.via = append([]ID{s.actor}, s.via...)
	s.actor = model
	return s, nil
}

// Scope returns the scope the session works in.
func (s Session) Scope() Scope { return s.scope }

// Actor returns the id of the model, or of the person of a person's session.
func (s Session) Actor() ID { return s.actor }

// Kind returns [Model] or [Human], as the constructor said.
func (s Session) Kind() Kind { return s.kind }

// Principal returns the person for whom a model works; false for a background model and for a person's own
// session.
func (s Session) Principal() (ID, bool) { return s.behalf.principal, s.behalf.principal != "" }

// Human returns the person behind the session: the principal of a model, or the person of a person's own
// session; nobody for a background model.
func (s Session) Human() Person {
	if s.kind == Human {
		return Person{s.actor}
	}
	return Person{s.behalf.principal}
}

// Background reports whether a model works for nobody in particular.
func (s Session) Background() bool { return s.behalf.background }

// Via returns the models through which the session was delegated, nearest first.
func (s Session) Via() []ID { return slices.Clone(s.via) }

// Tools returns the allowlist.
func (s Session) Tools() Allowlist { return s.tools }

// Run returns the run's id, or "".
func (s Session) Run() string { return s.run }

// Origin returns the surface the session came through, or "".
func (s Session) Origin() string { return s.origin }

// Conversation returns the conversation's id, or "".
func (s Session) Conversation() string { return s.conversation }

// IsZero reports whether s was not built by a constructor.
func (s Session) IsZero() bool { return s.kind == 0 }

// Actors returns every actor on whose authority the session depends: the caller, the models it was delegated
// through, the principal.
func (s Session) Actors() []ID {
	ids := append([]ID{s.actor}, s.via...)
	if s.behalf.principal != "" {
		ids = append(ids, s.behalf.principal)
	}
	return ids
}

// Within reports whether s acts inside outer: it is the same identity in the same scope and run, or a
// delegation of it. A zero Session is within nothing.
func (s Session) Within(outer Session) bool {
	if s.IsZero() || s.scope != outer.scope || s.kind != outer.kind || s.behalf != outer.behalf || s.run != outer.run {
		return false
	}
	chain, tail := append([]ID{s.actor}, s.via...), append([]ID{outer.actor}, outer.via...)
	return len(chain) >= len(tail) && slices.Equal(chain[len(chain)-len(tail):], tail)
}

// StoredSession is the form in which a store keeps a session. Only stores build one; everything else uses
// the constructors.
type StoredSession struct {
	Scope        Scope    `json:"scope"`
	Actor        ID       `json:"actor"`
	Kind         Kind     `json:"kind"`
	Principal    ID       `json:"principal,omitempty"`
	Background   bool     `json:"background,omitempty"`
	Via          []ID     `json:"via,omitempty"`
	Restricted   bool     `json:"restricted,omitempty"` // Tools is the allowlist; otherwise there is none
	Tools        []string `json:"tools,omitempty"`
	Run          string   `json:"run,omitempty"`
	Origin       string   `json:"origin,omitempty"`
	Conversation string   `json:"conversation,omitempty"`
}

// Stored returns the form in which a store keeps s.
func (s Session) Stored() StoredSession {
	names, restricted := s.tools.Names()
	return StoredSession{
		Scope: s.scope, Actor: s.actor, Kind: s.kind, Principal: s.behalf.principal, Background: s.behalf.background,
		Via: s.Via(), Restricted: restricted, Tools: names, Run: s.run, Origin: s.origin, Conversation: s.conversation,
	}
}

// Session returns the session that a store kept. The error is [ErrSession] if no constructor could have built
// it.
func (d StoredSession) Session() (Session, error) {
	s, err := d.identity()
	if err != nil {
		return Session{}, err
	}
	s.run, s.origin, s.conversation = d.Run, d.Origin, d.Conversation
	switch {
	case d.Restricted:
		s.tools = Only(d.Tools...)
	case len(d.Tools) > 0:
		return Session{}, fmt.Errorf("%w: tools without a restriction to them", ErrSession)
	}
	return s, nil
}

// identity builds the session's identity anew, with the constructors and their rules.
func (d StoredSession) identity() (s Session, err error) {
	switch {
	case d.Kind == Human && (d.Principal != "" || d.Background || len(d.Via) > 0) || d.Principal != "" && d.Background:
		return Session{}, fmt.Errorf("%w: contradictory identity", ErrSession)
	case d.Kind == Human:
		return NewPersonSession(d.Scope, Person{d.Actor})
	case d.Kind != Model:
		return Session{}, fmt.Errorf("%w: no kind", ErrSession)
	}
	chain := append([]ID{d.Actor}, d.Via...) // the model that was called first stands last
	s, err = NewSession(d.Scope, chain[len(chain)-1], Behalf{d.Principal, d.Background})
	for i := len(chain) - 2; i >= 0 && err == nil; i-- {
		s, err = s.Delegate(chain[i])
	}
	return s, err
}

// String names the session's identity for people: "assistant for olga in shop". It is no proof of anything.
func (s Session) String() string {
	if s.IsZero() {
		return "no session"
	}
	var b strings.Builder
	b.WriteString(string(s.actor))
	for _, id := range s.via {
		b.WriteString(" via " + string(id))
	}
	if s.behalf.principal != "" {
		b.WriteString(" for " + string(s.behalf.principal))
	}
	if s.behalf.background {
		b.WriteString(" in the background")
	}
	b.WriteString(" in " + string(s.scope))
	return b.String()
}
