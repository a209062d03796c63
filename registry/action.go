package registry

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

// Spec describes an action whose run function takes parameters of type P. Mode and Permission are required;
// every other field's zero value means the documented default.
type Spec[P any] struct {
	Title       string // for people; default the name
	Description string // for models and people: what it does and when to use it

	Permission authz.Permission // to perform it, and to approve it
	Ask        authz.Permission // to propose it; default Permission
	Mode       authz.Mode

	// Schema is the JSON Schema of the parameters, for imported tools. Without one it is generated from P:
	// the json and jsonschema struct tags say names, descriptions and limits.
	Schema json.RawMessage

	// Target returns the paths that an invocation touches, from the host's own records. All of them must be
	// allowed. It returns [ErrNoTarget] for a record that does not exist. Without it, and without On, an
	// action touches the whole scope.
	Target func(context.Context, P) ([]authz.Path, error)

	// On is the one path that every invocation touches, instead of a Target.
	On authz.Path

	// Version returns what changes whenever the targets do, such as a row's version. A proposal whose
	// targets changed since is refused as stale.
	Version func(context.Context, P) (string, error)

	// Preview tells an operator what would change. It is a read under the viewer's authority.
	Preview func(context.Context, P) ([]Difference, error)

	Measure Measure[P] // how to find out later whether it helped

	// Sentence says in the host's words what an invocation does, for the operator: "Refund {cents} cents of
	// order {order_id}". A name in braces stands for a parameter, quoted so that nothing hides in it.
	Sentence string
	Risk     Risk
	Reach    string // who and what is affected
	Undo     string // how it can be taken back, if it can

	Revision string // of the behaviour; a proposal for another revision is stale

	Explicit    bool // administrative: a model needs an allow grant, the shipped editor lacks it
	FourEyes    bool // nobody behind the request may approve it: neither the principal nor who revised it
	Destructive bool
	Idempotent  bool
	Disabled    bool // checked by New like any other, and then absent
	FoldClash   bool // parameter names may differ only by case
}

// Risk is how much harm an action can do, as its author declares it.
type Risk string

// The risks. The zero Risk is not declared.
const (
	RiskLow    Risk = "low"
	RiskMedium Risk = "medium"
	RiskHigh   Risk = "high"
)

// Difference is one line of a preview.
type Difference struct {
	Label, Before, After string
}

// Direction says which way a measure gets better.
type Direction int8

// The directions.
const (
	Higher Direction = iota + 1
	Lower
)

// DefaultVerifyAfter is how long after a run its measure is read again, if the measure does not say.
const DefaultVerifyAfter = 7 * 24 * time.Hour

// Measure finds out whether a change helped: it is read right before the run and again some time later. The
// zero Measure is none.
type Measure[P any] struct {
	Read      func(context.Context, P) (float64, error)
	Better    Direction
	Tolerance float64 // a difference up to this is no change
	Unit      string
	After     time.Duration // default DefaultVerifyAfter
}

// Action is one thing that an application can do. [Define] makes it; it is immutable. Its exported fields say
// what it is; nothing on it can run it.
type Action struct {
	Name, Title, Description string
	Permission, Ask          authz.Permission
	Mode                     authz.Mode
	Schema                   json.RawMessage // of the parameters; do not write to it
	Definition               string          // digest of what a proposal is bound to
	Risk                     Risk
	Reach, Undo              string
	Explicit, FourEyes       bool
	Destructive, Idempotent  bool
	Measure                  *MeasureInfo // nil without a measure

	disabled bool
	on       authz.Path // the one target, if it does not depend on the parameters
	whole    bool       // no target is declared: on is the root
	faults   []Fault
	schema   *params.Schema
	options  canon.Options
	sentence sentence

	decode  func(canon.Object) (any, error) // proves that what runs is what was hashed
	again   func(canon.Object) (any, error) // a fresh copy of what decode has proved
	target  func(context.Context, any) ([]authz.Path, error)
	version func(context.Context, any) (string, error)
	preview func(context.Context, any) ([]Difference, error)
	measure func(context.Context, any) (float64, error)
	run     func(context.Context, any) (any, error)
}

// MeasureInfo says how an action is measured.
type MeasureInfo struct {
	Better    Direction
	Tolerance float64
	Unit      string
	After     time.Duration
}

// portable is the form of names that every provider of models and MCP accept.
var portable = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)

// Define returns the action of that name. It never fails: [New] reports the faults of all actions together.
// With P = [json.RawMessage] the run function gets the canonical parameters as they are, and a Schema is
// required. Run functions are called from several goroutines at once.
func Define[P, R any](name string, s Spec[P], run func(context.Context, P) (R, error)) *Action {
	a := &Action{
		Name: name, Title: or(s.Title, name), Description: s.Description,
		Permission: s.Permission, Ask: or(s.Ask, s.Permission), Mode: s.Mode,
		Risk: s.Risk, Reach: s.Reach, Undo: s.Undo, Explicit: s.Explicit, FourEyes: s.FourEyes,
		Destructive: s.Destructive, Idempotent: s.Idempotent,
		disabled: s.Disabled, on: s.On, whole: s.Target == nil && s.On.IsZero(), options: canon.Options{AllowFoldClash: s.FoldClash},
	}
	if s.Target != nil && !s.On.IsZero() {
		a.fault("Target", "is given, and On too")
	}
	if a.whole {
		a.on = authz.Root()
	}
	a.check(run == nil, s.Version != nil || s.Preview != nil || s.Measure.Read != nil)
	a.compile(reflect.TypeFor[P](), s.Schema, s.Sentence)
	a.Definition = a.digest(s.Revision)

	a.decode = func(o canon.Object) (any, error) { return params.Decode[P](o) }
	a.again = func(o canon.Object) (any, error) { return params.Again[P](o) }
	a.run = func(ctx context.Context, p any) (any, error) { return run(ctx, p.(P)) }
	if s.Target != nil {
		a.target = func(ctx context.Context, p any) ([]authz.Path, error) { return s.Target(ctx, p.(P)) }
	}
	if s.Version != nil {
		a.version = func(ctx context.Context, p any) (string, error) { return s.Version(ctx, p.(P)) }
	}
	if s.Preview != nil {
		a.preview = func(ctx context.Context, p any) ([]Difference, error) { return s.Preview(ctx, p.(P)) }
	}
	if m := s.Measure; m.Read != nil {
		a.Measure = &MeasureInfo{m.Better, m.Tolerance, m.Unit, or(m.After, DefaultVerifyAfter)}
		a.measure = func(ctx context.Context, p any) (float64, error) { return m.Read(ctx, p.(P)) }
		if m.Better != Higher && m.Better != Lower {
			a.fault("Measure.Better", "must be Higher or Lower")
		}
		if m.Tolerance < 0 || math.IsNaN(m.Tolerance) || math.IsInf(m.Tolerance, 0) || m.After < 0 {
			a.fault("Measure", "tolerance and delay must be finite and not negative")
		}
	}
	return a
}

// clone returns a copy that shares nothing that can be written to; nil stays nil.
func (a *Action) clone() *Action {
	if a == nil {
		return nil
	}
	c := *a
	c.Schema = slices.Clone(a.Schema)
	if a.Measure != nil {
		m := *a.Measure
		c.Measure = &m
	}
	return &c
}

func (a *Action) fault(field, problem string) {
	a.faults = append(a.faults, Fault{a.Name, field, problem})
}

// check reports what is wrong with the declaration alone.
func (a *Action) check(noRun, forChanges bool) {
	if !portable.MatchString(a.Name) {
		a.fault("name", "must be a letter and up to 63 more of A-Z a-z 0-9 _ -")
	}
	if a.Permission == "" || a.Permission == authz.Every || a.Ask == authz.Every {
		a.fault("Permission", "is required, and is one permission")
	}
	if a.Description == "" {
		a.fault("Description", "is required: a model chooses by it")
	}
	if noRun {
		a.fault("run", "is required")
	}
	switch a.Risk {
	case "", RiskLow, RiskMedium, RiskHigh:
	default:
		a.fault("Risk", "must be low, medium or high")
	}
	switch {
	case !a.Mode.Valid():
		a.fault("Mode", "is required: Read, Propose or Execute")
	case a.Mode != authz.Read:
	case a.Destructive:
		a.fault("Destructive", "a read destroys nothing; declare what it changes as Propose or Execute")
	case a.FourEyes || a.Ask != a.Permission || forChanges:
		a.fault("Mode", "a read has no ask permission, version, preview, measure or second pair of eyes")
	}
}

func (a *Action) compile(t reflect.Type, raw json.RawMessage, words string) {
	var err error
	switch {
	case raw == nil && t == reflect.TypeFor[json.RawMessage]():
		a.fault("Schema", "is required for raw parameters")
		return
	case raw == nil:
		if raw, err = params.Generate(t); err != nil {
			a.fault("Schema", err.Error())
			return
		}
	}
	if a.schema, err = params.Compile(raw); err != nil {
		a.fault("Schema", err.Error())
		return
	}
	a.Schema = a.schema.JSON()
	if a.sentence, err = parseSentence(words, a.schema); err != nil {
		a.fault("Sentence", err.Error())
	}
}

// digest identifies what an approval is about: schema, mode, permissions, revision, and the rules of approval.
func (a *Action) digest(revision string) string {
	h := sha256.New()
	field := func(s string) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(s))))
		h.Write([]byte(s))
	}
	for _, s := range []string{"action/1", a.Name, a.Mode.String(), string(a.Permission), string(a.Ask), revision, string(a.Schema)} {
		field(s)
	}
	field(fmt.Sprint(a.Explicit, a.FourEyes, a.options.AllowFoldClash, a.whole))
	field(a.on.String())
	return hex.EncodeToString(h.Sum(nil))
}

// At returns a Target of one record below a base path, named by a parameter. A segment that is not one whole
// segment is refused, so a parameter can name a child of base and nothing else.
func At[P any](base authz.Path, segment func(P) string) func(context.Context, P) ([]authz.Path, error) {
	return func(_ context.Context, p P) ([]authz.Path, error) {
		path, err := base.Join(segment(p))
		if err != nil {
			return nil, err
		}
		return []authz.Path{path}, nil
	}
}

func or[T comparable](a, b T) T {
	var none T
	if a != none {
		return a
	}
	return b
}
