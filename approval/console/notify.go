package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/sallyport-dev/sallyport/approval/console/internal/changes"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Notice is what people are told of a proposal elsewhere: that it waits, or what became of it, so that a
// message that was sent before can say so. Its link opens the proposal and changes nothing; a decision is made
// there, by whoever is signed in. A notice holds no token.
type Notice struct {
	ID        string         `json:"id"` // the same for the same notice, from every process and at every attempt
	Scope     authz.Scope    `json:"scope"`
	Proposal  string         `json:"proposal"`
	State     ledger.State   `json:"state"`
	Outcome   ledger.Outcome `json:"outcome,omitempty"` // how the run of an executed one ended
	Action    string         `json:"action"`
	Title     string         `json:"title"`    // in the words of the action's author
	Sentence  string         `json:"sentence"` // the same, with the parameters' values in display form
	Risk      registry.Risk  `json:"risk,omitempty"`
	Actor     authz.ID       `json:"actor"`
	Principal authz.ID       `json:"principal,omitempty"`
	At        time.Time      `json:"at"`
	ExpiresAt time.Time      `json:"expires_at"`
	Link      string         `json:"link"`
}

// Notifier sends notices. An error is logged: it concerns no proposal.
type Notifier interface {
	Notify(context.Context, Notice) error
}

// NotifierFunc is a function as a [Notifier].
type NotifierFunc func(context.Context, Notice) error

// Notify calls f.
func (f NotifierFunc) Notify(ctx context.Context, n Notice) error { return f(ctx, n) }

// Notices tells a notifier of the proposals of one scope: of each that is made, and of each that is decided by
// a click or by a standing grant. It reads the ledger behind those who propose and decide, so that a delivery
// that fails or hangs fails and delays nothing. It begins with what happens after it; where several processes
// run it, each sends every notice, with the same id.
type Notices struct {
	Gate  func() *chattools.Gate
	Scope authz.Scope
	Link  func(proposal string) string // the address of its page, for people
	To    Notifier
	Poll  time.Duration // default DefaultPoll
}

// Run sends notices until the context ends, and returns its error.
func (n Notices) Run(ctx context.Context) error {
	if n.Gate == nil || n.Link == nil || n.To == nil || n.Scope == "" || n.Poll < 0 {
		return errors.New("console: notices need a gate, a scope, a link and a notifier")
	}
	after := func(ctx context.Context, seq int64, limit int) ([]ledger.Record, error) {
		return n.registry().Ledger().Audit(ctx, ledger.AuditQuery{Scope: n.Scope, After: seq, Limit: limit})
	}
	head, err := n.registry().Ledger().Audit(ctx, ledger.AuditQuery{Scope: n.Scope, Newest: true, Limit: 1})
	if err != nil {
		return fmt.Errorf("console: notices: %w", err)
	}
	trail := changes.NewTrail(0)
	if len(head) > 0 {
		trail = changes.NewTrail(head[0].Seq)
	}
	tick := time.NewTicker(or(n.Poll, DefaultPoll))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		records, err := trail.Read(ctx, after)
		if err != nil {
			n.registry().Log().ErrorContext(ctx, "the trail could not be read for notices", "error", err)
		}
		for _, r := range records {
			n.tell(ctx, r)
		}
	}
}

func (n Notices) registry() *registry.Registry { return n.Gate().Desk().Registry() }

// tell sends the notice of a record, if there is one.
func (n Notices) tell(ctx context.Context, r ledger.Record) {
	if r.Event != ledger.EventProposed && r.Event != ledger.EventDismissed && r.Event != ledger.EventFinished || r.Proposal == "" {
		return
	}
	reg := n.registry()
	p, err := reg.Ledger().Proposal(ctx, n.Scope, r.Proposal)
	if err == nil {
		err = ledger.CheckSeal(reg.Keys(), &p)
	}
	if err == nil {
		card := reg.Card(&p)
		principal, _ := p.Session.Principal()
		err = n.To.Notify(ctx, Notice{
			ID: p.ID + "." + string(r.Event), Scope: n.Scope, Proposal: p.ID, State: p.State(reg.Now()), Outcome: p.Outcome, Action: p.Action,
			Title: card.Title, Sentence: card.Sentence, Risk: card.Risk, Actor: p.Session.Actor(), Principal: principal,
			At: r.At, ExpiresAt: p.ExpiresAt, Link: n.Link(p.ID),
		})
	}
	if err != nil {
		reg.Log().ErrorContext(ctx, "a notice was not delivered", "proposal", r.Proposal, "event", r.Event, "error", err)
	}
}

// Webhook sends notices to an address, signed by the Standard Webhooks scheme: an HMAC over id, time and body
// in the headers webhook-id, webhook-timestamp and webhook-signature. The receiver checks all three and does
// nothing for an id that it has had. The body is {"type", "timestamp", "data"}; data is the [Notice].
type Webhook struct {
	url    string
	hook   *standardwebhooks.Webhook
	client *http.Client
	pause  time.Duration
}

// attempts is how often a notice is sent until a receiver takes it, with a longer pause before each.
const attempts = 3

// NewWebhook returns the webhook of an address and a secret of at least 24 random bytes. A nil client means one
// with a timeout of ten seconds. Redirects are not followed: the signed body is for this address.
func NewWebhook(address string, secret []byte, client *http.Client) (*Webhook, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("console: a webhook needs an absolute http or https address")
	}
	if len(secret) < 24 {
		return nil, errors.New("console: a webhook needs a secret of at least 24 bytes")
	}
	hook, err := standardwebhooks.NewWebhookRaw(bytes.Clone(secret))
	if err != nil {
		return nil, fmt.Errorf("console: webhook: %w", err)
	}
	c := http.Client{Timeout: 10 * time.Second}
	if client != nil {
		c = *client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Webhook{address, hook, &c, time.Second}, nil
}

// Notify sends one notice. Any status but 2xx is an error, and is tried again unless the receiver says that the
// request itself is wrong.
func (w *Webhook) Notify(ctx context.Context, n Notice) error {
	at := time.Now()
	body, err := json.Marshal(map[string]any{"type": "proposal." + string(n.State), "timestamp": at.UTC(), "data": n})
	if err != nil {
		return fmt.Errorf("console: webhook: %w", err)
	}
	for i := 1; ; i++ {
		again, err := w.send(ctx, n.ID, body)
		if err == nil || !again || i == attempts {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(i*i) * w.pause):
		}
	}
}

func (w *Webhook) send(ctx context.Context, id string, body []byte) (again bool, err error) {
	at := time.Now() // of the attempt: receivers refuse what is old
	signature, err := w.hook.Sign(id, at, body)
	if err != nil {
		return false, fmt.Errorf("console: webhook: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("console: webhook: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(standardwebhooks.HeaderWebhookID, id)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, fmt.Sprint(at.Unix()))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	res, err := w.client.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the address may hold a secret
		}
		return true, fmt.Errorf("console: webhook: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // so that the connection can be used again
	if res.StatusCode/100 != 2 {
		return res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests, fmt.Errorf("console: webhook: the receiver answered %d", res.StatusCode)
	}
	return false, nil
}
