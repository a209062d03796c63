package chattools_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// parcel is a typical set of parameters, of about 300 bytes.
type parcel struct {
	Order  string `json:"order"`
	Reason string `json:"reason"`
	Cents  int64  `json:"cents"`
	Notify bool   `json:"notify"`
	To     struct {
		Name  string `json:"name"`
		Email string `json:"email"`
		ID    string `json:"id"`
	} `json:"to"`
}

const parcelJSON = `{"order": "W-2041", "cents": 4250, "notify": true, "to": {"id": "c-17", "name": "Olga", "email": "olga@example.org"},` +
	`"reason": "The second of three parcels came damaged; the customer sent pictures, keeps the rest, and would like to have the value of ` +
	`that one back on the card that was used to pay for it."}`

// benchGate is a gate in memory in front of a read, a change and n tools more, with the audit on.
func benchGate(b *testing.B, n int) (*chattools.Gate, authz.Session, authz.Person) {
	people := new(authz.Memory)
	require.NoError(b, people.Set("s", authz.Facts{Settings: authz.Settings{Ceiling: authz.Execute}, Actors: []authz.Actor{
		{ID: "model", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
		{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
	}}))
	key, err := token.NewKey("k1")
	require.NoError(b, err)
	keys, err := token.NewRing("bench", key)
	require.NoError(b, err)
	at := registry.At(authz.MustPath("/orders"), func(p parcel) string { return p.Order })
	run := func(_ context.Context, p parcel) (int64, error) { return p.Cents, nil }
	actions := []*registry.Action{
		registry.Define("read", registry.Spec[parcel]{Description: "d", Permission: "x:read", Mode: authz.Read, Target: at}, run),
		registry.Define("change", registry.Spec[parcel]{Description: "d", Permission: "x:edit", Mode: authz.Propose, Target: at}, run),
	}
	for i := range n {
		actions = append(actions, registry.Define(fmt.Sprintf("tool_%04d", i),
			registry.Spec[parcel]{Description: "d", Permission: "x:read", Mode: authz.Read, Target: at}, run))
	}
	reg, err := registry.New(registry.Config{Actions: actions, Source: people, Ledger: new(ledger.Memory), Keys: keys})
	require.NoError(b, err)
	olga := authz.LoggedIn("olga")
	s, err := authz.NewSession("s", "model", authz.For(olga))
	require.NoError(b, err)
	return chattools.NewGate(approval.NewDesk(reg)), s, olga
}

// A read through the gate: canonicalized, validated, authorized, run, recorded.
func BenchmarkRead(b *testing.B) {
	gate, s, _ := benchGate(b, 0)
	b.ReportAllocs()
	for b.Loop() {
		if a := gate.Call(b.Context(), s, chattools.Call{Name: "read", Arguments: []byte(parcelJSON)}); a.Status != chattools.Done {
			b.Fatal(a.Text)
		}
	}
}

// The whole cycle of an approval: proposed, opened, approved, claimed, run, every record written.
func BenchmarkApproval(b *testing.B) {
	gate, s, olga := benchGate(b, 0)
	b.ReportAllocs()
	for b.Loop() {
		a := gate.Call(b.Context(), s, chattools.Call{Name: "change", Arguments: []byte(parcelJSON)})
		o, err := gate.Desk().Open(b.Context(), "s", a.Proposal, olga)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := gate.Desk().Approve(b.Context(), o.Redemption()); err != nil {
			b.Fatal(err)
		}
	}
}

// The catalog of a thousand tools, into a slice that is there.
func BenchmarkCatalog(b *testing.B) {
	gate, s, _ := benchGate(b, 998)
	dst := make([]*chattools.Tool, 0, 1000)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if dst, err = gate.AppendCatalog(b.Context(), dst[:0], s); err != nil || len(dst) != 1000 {
			b.Fatal(err, len(dst))
		}
	}
}
