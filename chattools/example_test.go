package chattools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

type Room struct {
	Number int `json:"room" jsonschema:"minimum=1,maximum=20"`
}

// newHotel is a gate in front of a hotel with three actions, for a model and for Hana at the desk.
func newHotel() (*chattools.Gate, error) {
	rooms := authz.MustPath("/rooms")
	at := registry.At(rooms, func(r Room) string { return fmt.Sprint(r.Number) })
	look := registry.Define("look_up_room", registry.Spec[Room]{
		Description: "Say whether a room is free.", Mode: authz.Read, Permission: "rooms:read", Target: at,
	}, func(_ context.Context, r Room) (string, error) { return "free", nil })
	book := registry.Define("book_room", registry.Spec[Room]{
		Description: "Book a room for tonight.", Mode: authz.Propose, Permission: "rooms:book", Target: at,
	}, func(_ context.Context, r Room) (string, error) { return "booked", nil })
	demolish := registry.Define("demolish_room", registry.Spec[Room]{
		Description: "Take a room out of service for good.", Mode: authz.Execute, Permission: "rooms:delete", Target: at,
	}, func(_ context.Context, r Room) (string, error) { return "gone", nil })

	people := new(authz.Memory)
	err := people.Set("hotel", authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose}, // demolish_room is above it
		Actors: []authz.Actor{
			{ID: "concierge", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			{ID: "hana", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
		},
	})
	if err != nil {
		return nil, err
	}
	keys, err := token.NewRing("example", token.Key{ID: "k1", Secret: []byte("a secret for this example only..")})
	if err != nil {
		return nil, err
	}
	reg, err := registry.New(registry.Config{
		Actions: []*registry.Action{look, book, demolish}, Source: people, Ledger: new(ledger.Memory), Keys: keys,
		Now:    func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) },
		Random: strings.NewReader(strings.Repeat("fixed ids ", 10)),
	})
	if err != nil {
		return nil, err
	}
	return chattools.NewGate(approval.NewDesk(reg)), nil
}

// A model lists its tools, reads, asks for a change, and tries its luck. Each answer is what it gets to read.
func Example() {
	ctx := context.Background()
	gate, err := newHotel()
	if err != nil {
		log.Fatal(err)
	}
	session, err := authz.NewSession("hotel", "concierge", authz.For(authz.LoggedIn("hana")))
	if err != nil {
		log.Fatal(err)
	}

	tools, err := gate.Catalog(ctx, session)
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range tools {
		fmt.Printf("%s (%s): %s\n", tool.Name, tool.Mode, tool.Description)
	}
	for _, call := range []chattools.Call{
		{ID: "1", Name: "look_up_room", Arguments: json.RawMessage(`{"room": 7}`)},
		{ID: "2", Name: "book_room", Arguments: json.RawMessage(`{"room": 7}`)},
		{ID: "3", Name: "book_room", Arguments: json.RawMessage(`{"room": 21}`)},
		{ID: "4", Name: "demolish_room", Arguments: json.RawMessage(`{"room": 7}`)},
		{ID: "5", Name: "approve_everything", Arguments: json.RawMessage(`{"confirm": true}`)},
	} {
		answer, err := json.Marshal(gate.Call(ctx, session, call))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(answer))
	}
	// Output:
	// book_room (propose): Book a room for tonight.
	// look_up_room (read): Say whether a room is free.
	// {"call_id":"1","status":"done","result":"free"}
	// {"call_id":"2","status":"needs_approval","text":"This needs a person's approval and waits for it. Nothing has been changed yet.","proposal":"019cadc6-9a80-7669-b865-642069647320"}
	// {"call_id":"3","status":"invalid","text":"The arguments are not valid: /room: expected integer, at least 1, at most 20."}
	// {"call_id":"4","status":"unknown","text":"There is no such tool."}
	// {"call_id":"5","status":"unknown","text":"There is no such tool."}
}
