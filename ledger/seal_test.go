package ledger_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// mutable are the fields that say what became of a proposal. Every other field must be sealed, one that is
// added later too, unless it is named here.
var mutable = strings.Fields(`Decision DecidedBy DecidedAt Note Claim Grant RunBy Outcome FinishedAt Result Error Told
	Baseline Unmeasured VerifyAt Verdict Measured VerifiedAt`)

func key(id string, fill byte) token.Key {
	return token.Key{ID: id, Secret: []byte(strings.Repeat(string(rune('a'+fill)), 32))}
}

func ring(t *testing.T, environment string, signing token.Key, old ...token.Key) *token.Ring {
	t.Helper()
	r, err := token.NewRing(environment, signing, old...)
	require.NoError(t, err)
	return r
}

// proposal has every immutable field set, and none of the others.
func proposal(t *testing.T) ledger.Proposal {
	t.Helper()
	params, err := canon.Stored(`{"cents":1200,"order":"W42"}`)
	require.NoError(t, err)
	p := ledger.Proposal{
		ID: "0198-id", Action: "refund", Params: params, Targets: []authz.Path{authz.MustPath("/a/b"), authz.MustPath("/c")},
		Definition: "definition", Version: "7", CreatedAt: time.UnixMicro(1767603600_000001).UTC(),
		ExpiresAt: time.Unix(1767603900, 0).UTC(), Supersedes: "0197-id", RevisedBy: []authz.ID{"sam", "eve"},
	}
	setSession(t, &p, authz.StoredSession{
		Scope: "shop", Actor: "helper", Kind: authz.Model, Principal: "olga", Via: []authz.ID{"planner", "assistant"},
		Restricted: true, Tools: []string{"find", "refund"}, Run: "run", Origin: "chat", Conversation: "talk",
	})
	return p
}

func setSession(t *testing.T, p *ledger.Proposal, d authz.StoredSession) {
	t.Helper()
	s, err := d.Session()
	require.NoError(t, err)
	p.Session = s
}

func sealed(t *testing.T, keys *token.Ring) ledger.Proposal {
	t.Helper()
	p := proposal(t)
	require.NoError(t, ledger.Seal(keys, &p))
	require.NoError(t, ledger.CheckSeal(keys, &p))
	return p
}

// variants returns values that differ from v. Lists differ in an element, in their length and in their order.
func variants(t *testing.T, v reflect.Value) []reflect.Value {
	t.Helper()
	one := 1.0
	switch x := v.Interface().(type) {
	case time.Time:
		return []reflect.Value{reflect.ValueOf(x.Add(time.Microsecond)), reflect.ValueOf(x.Add(-time.Hour)), reflect.ValueOf(time.Time{})}
	case canon.Object:
		other, err := canon.Stored(`{"cents":1201,"order":"W42"}`)
		require.NoError(t, err)
		return []reflect.Value{reflect.ValueOf(other), reflect.ValueOf(canon.Object{})}
	case authz.Path:
		return []reflect.Value{reflect.ValueOf(authz.MustPath("/other")), reflect.ValueOf(authz.Root()), reflect.ValueOf(authz.Path{})}
	case *float64:
		return []reflect.Value{reflect.ValueOf(&one)}
	}
	switch v.Kind() {
	case reflect.String:
		return []reflect.Value{
			reflect.ValueOf(v.String() + "x").Convert(v.Type()), reflect.ValueOf(strings.ToUpper(v.String() + "y")).Convert(v.Type()),
		}
	case reflect.Slice:
		longer := reflect.Append(reflect.AppendSlice(reflect.Zero(v.Type()), v), reflect.New(v.Type().Elem()).Elem())
		list := []reflect.Value{longer}
		if v.Len() == 0 {
			return list
		}
		list = append(list, v.Slice(0, v.Len()-1), reflect.Zero(v.Type()))
		for _, e := range variants(t, v.Index(0)) {
			changed := reflect.AppendSlice(reflect.Zero(v.Type()), v)
			changed.Index(0).Set(e)
			list = append(list, changed)
		}
		swapped := reflect.AppendSlice(reflect.Zero(v.Type()), v)
		reflect.Swapper(swapped.Interface())(0, v.Len()-1)
		return append(list, swapped)
	case reflect.Uint8:
		return []reflect.Value{reflect.ValueOf(uint8(1)).Convert(v.Type())}
	}
	t.Fatalf("no variant of a %s", v.Type())
	return nil
}

func TestSealCoversEveryImmutableField(t *testing.T) {
	keys := ring(t, "test", key("k1", 0))
	p := sealed(t, keys)
	typ := reflect.TypeFor[ledger.Proposal]()
	for _, name := range mutable {
		_, ok := typ.FieldByName(name)
		require.True(t, ok, "there is no field %s", name)
	}
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		if name == "Session" {
			continue // field by field below
		}
		t.Run(name, func(t *testing.T) {
			isMutable := strings.Contains(" "+strings.Join(mutable, " ")+" ", " "+name+" ")
			require.Equal(t, isMutable, reflect.ValueOf(p).Field(i).IsZero(), "the proposal of this test sets immutable fields, and only those")
			for _, v := range variants(t, reflect.ValueOf(p).Field(i)) {
				changed := p
				reflect.ValueOf(&changed).Elem().Field(i).Set(v)
				err := ledger.CheckSeal(keys, &changed)
				if isMutable {
					require.NoError(t, err, "%s is not sealed: %v", name, v)
				} else {
					require.ErrorIs(t, err, ledger.ErrTampered, "%s is sealed: %v", name, v)
				}
			}
		})
	}
	require.NoError(t, ledger.CheckSeal(keys, &p), "the proposal itself was left alone")
}

func TestSealCoversEveryFieldOfTheSession(t *testing.T) {
	keys := ring(t, "test", key("k1", 0))
	p := sealed(t, keys)
	// Some fields cannot change alone, since no constructor would build that session.
	changes := map[string]func(*authz.StoredSession){
		"Kind":       func(d *authz.StoredSession) { d.Kind, d.Principal, d.Via = authz.Human, "", nil },
		"Background": func(d *authz.StoredSession) { d.Background, d.Principal = true, "" },
		"Restricted": func(d *authz.StoredSession) { d.Restricted, d.Tools = false, nil },
		"Via":        func(d *authz.StoredSession) { d.Via = append(d.Via, "another") },
	}
	typ := reflect.TypeFor[authz.StoredSession]()
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		t.Run(name, func(t *testing.T) {
			stored := p.Session.Stored()
			require.True(t, name == "Background" || !reflect.ValueOf(stored).Field(i).IsZero(), "the session of this test sets the field")
			check := func(d authz.StoredSession) {
				changed := p
				setSession(t, &changed, d)
				if reflect.DeepEqual(changed.Session, p.Session) {
					return // an allowlist in another order is the same one
				}
				require.ErrorIs(t, ledger.CheckSeal(keys, &changed), ledger.ErrTampered, "%+v", d)
			}
			if change := changes[name]; change != nil {
				change(&stored)
				check(stored)
				return
			}
			for _, v := range variants(t, reflect.ValueOf(stored).Field(i)) {
				d := stored
				reflect.ValueOf(&d).Elem().Field(i).Set(v)
				check(d)
			}
		})
	}
}

func TestSealKeepsFieldsApart(t *testing.T) {
	keys := ring(t, "test", key("k1", 0))
	stored := func(change func(*authz.StoredSession)) func(*ledger.Proposal) {
		return func(p *ledger.Proposal) {
			d := p.Session.Stored()
			change(&d)
			setSession(t, p, d)
		}
	}
	for _, c := range []struct {
		name         string
		before, then func(*ledger.Proposal)
	}{
		{"definition to version",
			func(p *ledger.Proposal) { p.Definition, p.Version = "ab", "c" },
			func(p *ledger.Proposal) { p.Definition, p.Version = "a", "bc" }},
		{"all of the definition",
			func(p *ledger.Proposal) { p.Definition, p.Version = "a", "" },
			func(p *ledger.Proposal) { p.Definition, p.Version = "", "a" }},
		{"one target or two", func(p *ledger.Proposal) { p.Targets = []authz.Path{authz.MustPath("/a/b")} },
			func(p *ledger.Proposal) { p.Targets = []authz.Path{authz.MustPath("/a"), authz.MustPath("/b")} }},
		{"no target or the zero path",
			func(p *ledger.Proposal) { p.Targets = nil },
			func(p *ledger.Proposal) { p.Targets = []authz.Path{{}} }},
		{"target to definition", func(p *ledger.Proposal) { p.Targets, p.Definition = []authz.Path{authz.Root()}, "" },
			func(p *ledger.Proposal) { p.Targets, p.Definition = nil, "/" }},
		{"reviser to predecessor", func(p *ledger.Proposal) { p.Supersedes, p.RevisedBy = "", []authz.ID{"x"} },
			func(p *ledger.Proposal) { p.Supersedes, p.RevisedBy = "x", nil }},
		{"one reviser or two",
			func(p *ledger.Proposal) { p.RevisedBy = []authz.ID{"ab"} },
			func(p *ledger.Proposal) { p.RevisedBy = []authz.ID{"a", "b"} }},
		{"actor to principal",
			stored(func(d *authz.StoredSession) { d.Actor, d.Principal = "ab", "c" }),
			stored(func(d *authz.StoredSession) { d.Actor, d.Principal = "a", "bc" })},
		{"actor to via",
			stored(func(d *authz.StoredSession) { d.Actor, d.Via = "a", []authz.ID{"b", "c"} }),
			stored(func(d *authz.StoredSession) { d.Actor, d.Via = "b", []authz.ID{"a", "c"} })},
		{"tool to run",
			stored(func(d *authz.StoredSession) { d.Tools, d.Run = []string{"a", "b"}, "" }),
			stored(func(d *authz.StoredSession) { d.Tools, d.Run = []string{"a"}, "b" })},
		{"run to origin",
			stored(func(d *authz.StoredSession) { d.Run, d.Origin = "a", "" }),
			stored(func(d *authz.StoredSession) { d.Run, d.Origin = "", "a" })},
		{"origin to conversation",
			stored(func(d *authz.StoredSession) { d.Origin, d.Conversation = "a", "" }),
			stored(func(d *authz.StoredSession) { d.Origin, d.Conversation = "", "a" })},
		{"conversation to action", func(p *ledger.Proposal) { p.Session, p.Action = p.Session.WithConversation("a"), "" },
			func(p *ledger.Proposal) { p.Session, p.Action = p.Session.WithConversation(""), "a" }},
		{"no tool or any tool",
			stored(func(d *authz.StoredSession) { d.Tools = nil }),
			stored(func(d *authz.StoredSession) { d.Tools, d.Restricted = nil, false })},
		{"creation and expiry", func(p *ledger.Proposal) { p.CreatedAt, p.ExpiresAt = time.Unix(1, 0), time.Unix(2, 0) },
			func(p *ledger.Proposal) { p.CreatedAt, p.ExpiresAt = time.Unix(2, 0), time.Unix(1, 0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := proposal(t)
			c.before(&p)
			require.NoError(t, ledger.Seal(keys, &p))
			require.NoError(t, ledger.CheckSeal(keys, &p))
			c.then(&p)
			require.ErrorIs(t, ledger.CheckSeal(keys, &p), ledger.ErrTampered)
		})
	}
}

func TestSealIsOfOneRing(t *testing.T) {
	keys := ring(t, "test", key("k1", 0))
	p := sealed(t, keys)
	require.NoError(t, ledger.CheckSeal(ring(t, "test", key("k2", 1), key("k1", 0)), &p), "an old key still checks")
	for name, other := range map[string]*token.Ring{
		"another key":         ring(t, "test", key("k2", 1)),
		"another secret":      ring(t, "test", key("k1", 1)),
		"another environment": ring(t, "production", key("k1", 0)),
		"no ring":             nil,
		"zero ring":           {},
	} {
		require.ErrorIs(t, ledger.CheckSeal(other, &p), ledger.ErrTampered, name)
	}
	for _, seal := range []string{"", ".", "k1.", p.Seal[:len(p.Seal)-1], p.Seal + "A", " " + p.Seal, strings.ToUpper(p.Seal)} {
		q := p
		q.Seal = seal
		require.ErrorIs(t, ledger.CheckSeal(keys, &q), ledger.ErrTampered, "seal %q", seal)
	}
	other, err := keys.Seal(token.PurposeGrant, "shop", []byte("x"))
	require.NoError(t, err)
	q := p
	q.Seal = other
	require.ErrorIs(t, ledger.CheckSeal(keys, &q), ledger.ErrTampered, "a seal of another purpose")
}

func TestSealNeedsKeysAndScope(t *testing.T) {
	p := proposal(t)
	require.ErrorIs(t, ledger.Seal(nil, &p), token.ErrRing)
	require.Empty(t, p.Seal)
	var none ledger.Proposal
	keys := ring(t, "test", key("k1", 0))
	require.ErrorIs(t, ledger.Seal(keys, &none), token.ErrField)
	require.Empty(t, none.Seal)
	require.ErrorIs(t, ledger.CheckSeal(keys, &none), ledger.ErrTampered)
}

// What a store rounds away was never sealed.
func TestSealSurvivesTheLedger(t *testing.T) {
	keys := ring(t, "test", key("k1", 0))
	p := proposal(t)
	p.CreatedAt = p.CreatedAt.Add(999 * time.Nanosecond).In(time.FixedZone("east", 7200))
	require.NoError(t, ledger.Seal(keys, &p))
	got, err := new(ledger.Memory).Propose(t.Context(), ledger.Entry{Proposal: p})
	require.NoError(t, err)
	require.NotEqual(t, p.CreatedAt, got.CreatedAt)
	require.NoError(t, ledger.CheckSeal(keys, &got))
}
