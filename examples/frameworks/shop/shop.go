// Package shop is the application behind the framework examples: payments that a model looks up and asks to
// refund, and a person who decides.
//
// [New] opens the shop, [Shop.Talk] a conversation of Olga with the shop's model. An example hands
// [Conversation.Tools] to its framework and lets a [Script] be the model; [Play] tells the story. Nothing here
// knows a framework.
package shop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

const scope authz.Scope = "shop"

// olga owns the shop. She enters as a login would say.
var olga = authz.LoggedIn("olga")

// Shop is the application with its gate. It is safe for concurrent use.
type Shop struct {
	Gate   *chattools.Gate
	people authz.Memory

	mu      sync.Mutex
	left    map[string]int64 // cents, by the digits of the number
	refunds int
}

// Number of a payment as it was sent: an integer or a string of digits, since not everything that carries JSON
// carries large integers.
type Number = json.RawMessage

// digits returns the number without quotation marks, by which the shop knows the payment.
func digits(n Number) string { return strings.Trim(string(n), `"`) }

// Payment is what find_payment takes.
type Payment struct {
	Payment Number `json:"payment"`
}

// Refund is what refund_payment takes.
type Refund struct {
	Payment Number `json:"payment"`
	Cents   int64  `json:"cents"`
}

// Note is what add_note takes.
type Note struct {
	Payment Number `json:"payment"`
	Text    string `json:"text"`
}

// Found is what find_payment returns.
type Found struct {
	Payment Number `json:"payment"`
	Cents   int64  `json:"cents"`
}

// parameters is a schema for a payment's number and the given property.
func parameters(name, property string) json.RawMessage {
	const number = `"payment": {"type": ["integer", "string"], "minimum": 1, "pattern": "^[1-9][0-9]{0,18}$", ` +
		`"description": "The payment's number"}`
	if name == "" {
		return json.RawMessage(`{"type": "object", "properties": {` + number + `}, "required": ["payment"], "additionalProperties": false}`)
	}
	return json.RawMessage(`{"type": "object", "properties": {` + number + `, "` + name + `": ` + property +
		`}, "required": ["payment", "` + name + `"], "additionalProperties": false}`)
}

// New opens a shop. Its clock stands still and its ids are the same each time.
func New() (*Shop, error) {
	s := &Shop{left: map[string]int64{"1042": 5000, "9007199254740992": 100, "9007199254740993": 9900}}
	payments := authz.MustPath("/payments")
	find := registry.Define("find_payment", registry.Spec[Payment]{
		Description: "Say how many cents of a payment are left.", Mode: authz.Read, Permission: "payments:read",
		Schema: parameters("", ""),
		Target: registry.At(payments, func(p Payment) string { return digits(p.Payment) }),
	}, s.find)
	refund := registry.Define("refund_payment", registry.Spec[Refund]{
		Description: "Refund part of a payment to the customer's card.", Mode: authz.Propose, Permission: "refunds:edit",
		Schema:   parameters("cents", `{"type": "integer", "minimum": 1}`),
		Target:   registry.At(payments, func(p Refund) string { return digits(p.Payment) }),
		Sentence: "Refund {cents} cents of payment {payment}.", Risk: registry.RiskMedium,
	}, s.refund)
	note := registry.Define("add_note", registry.Spec[Note]{
		Description: "Leave a note on a payment.", Mode: authz.Execute, Permission: "notes:edit",
		Schema: parameters("text", `{"type": "string", "maxLength": 500}`),
		Target: registry.At(payments, func(p Note) string { return digits(p.Payment) }),
	}, func(context.Context, Note) (string, error) { return "noted", nil })

	err := s.people.Set(scope, authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose}, // add_note is above it
		Actors: []authz.Actor{
			{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
			{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
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
		Actions:     []*registry.Action{find, refund, note},
		ProposeOnly: []authz.Permission{"refunds:edit"},
		Source:      &s.people, Ledger: new(ledger.Memory), Keys: keys,
		Now:    func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) },
		Random: strings.NewReader(strings.Repeat("fixed ids ", 1000)),
	})
	if err != nil {
		return nil, err
	}
	s.Gate = chattools.NewGate(approval.NewDesk(reg))
	return s, nil
}

func (s *Shop) find(_ context.Context, p Payment) (Found, error) {
	number := digits(p.Payment)
	return Found{Number(number), s.Left(number)}, nil
}

func (s *Shop) refund(_ context.Context, r Refund) (Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number := digits(r.Payment)
	s.left[number] -= r.Cents
	s.refunds++
	return Found{Number(number), s.left[number]}, nil
}

// Left says how many cents of a payment are left.
func (s *Shop) Left(payment string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left[payment]
}

// Refunds says how often a refund has run.
func (s *Shop) Refunds() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refunds
}

// SetCeiling changes the highest mode that a model may attempt, as an owner may at any moment.
func (s *Shop) SetCeiling(ctx context.Context, mode authz.Mode) error {
	return s.people.Edit(ctx, scope, func(f *authz.Facts) error {
		f.Settings.Ceiling = mode
		return nil
	})
}

// Approve lets Olga open a proposal at her desk and approve it. It returns the sentence that she read.
func (s *Shop) Approve(ctx context.Context, proposal string) (string, error) {
	card, err := s.Gate.Desk().Open(ctx, scope, proposal, olga)
	if err != nil {
		return "", err
	}
	if _, err := s.Gate.Desk().Approve(ctx, card.Redemption()); err != nil {
		return "", fmt.Errorf("%s: %w", card.Card.Sentence, err)
	}
	return card.Card.Sentence, nil
}
