package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/console"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// A host mounts the console in its own server and says who is asking by its own login.
func Example() {
	type refund struct {
		Order string `json:"order"`
		Cents int64  `json:"cents"`
	}
	people := new(authz.Memory)
	if err := people.Set("shop", authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose},
		Actors: []authz.Actor{
			{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
		},
	}); err != nil {
		log.Fatal(err)
	}
	keys, err := token.NewRing("example", token.Key{ID: "k1", Secret: []byte("32 bytes that an example may show")})
	if err != nil {
		log.Fatal(err)
	}
	reg, err := registry.New(registry.Config{
		Actions: []*registry.Action{registry.Define("refund", registry.Spec[refund]{
			Description: "Refund part of an order.", Permission: "refunds:edit", Mode: authz.Propose, Sentence: "Refund {cents} cents of order {order}.",
		}, func(_ context.Context, p refund) (string, error) { return "refunded", nil })},
		Source: people, Ledger: new(ledger.Memory), Keys: keys,
	})
	if err != nil {
		log.Fatal(err)
	}
	gate := chattools.NewGate(approval.NewDesk(reg))

	desk, err := console.New(console.Config{
		Gate: func() *chattools.Gate { return gate },
		Who: func(r *http.Request) (console.Caller, error) {
			user, _, ok := r.BasicAuth() // stands for the host's own sessions
			if !ok {
				return console.Caller{}, console.ErrNobody
			}
			return console.Caller{Scope: "shop", Person: authz.LoggedIn(authz.ID(user))}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer desk.Close()
	mux := http.NewServeMux()
	mux.Handle("/console/", http.StripPrefix("/console", desk))

	session, err := authz.NewSession("shop", "assistant", authz.For(authz.LoggedIn("olga")))
	if err != nil {
		log.Fatal(err)
	}
	answer := gate.Call(context.Background(), session, chattools.Call{Name: "refund", Arguments: []byte(`{"order":"W42","cents":500}`)})
	fmt.Println(answer.Status)

	var opened struct {
		Sentence   string
		Token      string
		ParamsHash string `json:"params_hash"`
	}
	ask(mux, "GET", answer.Proposal, nil, &opened)
	fmt.Println(opened.Sentence)
	var ran struct{ Status, Result string }
	ask(mux, "POST", answer.Proposal+"/approve", map[string]string{"token": opened.Token, "shown": opened.ParamsHash}, &ran)
	fmt.Println(ran.Status, ran.Result)
	// Output:
	// needs_approval
	// Refund 500 cents of order "W42".
	// done refunded
}

// ask is what a front end of the host's own does.
func ask(h http.Handler, method, path string, body, out any) {
	text, err := json.Marshal(body)
	if err != nil {
		log.Fatal(err)
	}
	r := httptest.NewRequest(method, "/console/api/v1/proposals/"+path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth("olga", "")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
		log.Fatal(err)
	}
}

// A host has its own words for some of what the console says. The others stay English, and its test can find them.
func ExampleTexts() {
	german := map[string]string{
		"Inbox":                        "Posteingang",
		"Not signed in":                "Nicht angemeldet",
		"To the inbox":                 "Zum Posteingang",
		"Decided by {who}, {time}.":    "Am {time} von {who} entschieden.",
		"{hours} h {minutes} min left": "noch {hours} Std. {minutes} Min.",
	}
	desk, err := console.New(console.Config{
		Gate: func() *chattools.Gate { return nil }, // stands for the host's gate
		Who:  func(*http.Request) (console.Caller, error) { return console.Caller{}, console.ErrNobody },
		Lang: "de", Texts: german,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer desk.Close()

	for _, text := range console.Texts() {
		if strings.HasPrefix(text, "Decided") && german[text] == "" { // a test of the host looks at all of them
			fmt.Printf("missing: %q\n", text)
		}
	}
	_, err = console.New(console.Config{
		Gate:  func() *chattools.Gate { return nil },
		Who:   func(*http.Request) (console.Caller, error) { return console.Caller{}, console.ErrNobody },
		Texts: map[string]string{"Decided by {who}, {time}.": "Am {time} entschieden."},
	})
	fmt.Println(err)
	// Output:
	// missing: "Decided"
	// console: texts: the text "Decided by {who}, {time}." has the placeholders [time who], and its replacement has [time]
}

// A message in a chat says what waits and where it is decided. Nothing can be decided from the message itself:
// the chat's accounts are not the application's.
func ExampleNotifierFunc() {
	chat := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		fmt.Println(string(text))
	}))
	defer chat.Close()

	plain := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;") // as such chats want it
	slack := console.NotifierFunc(func(ctx context.Context, n console.Notice) error {
		became := string(n.State)
		if n.Outcome == ledger.Failed {
			became = "approved, and failed"
		}
		text := fmt.Sprintf("%s: %s\n<%s|Open it>", became, plain.Replace(n.Sentence), n.Link)
		body := new(bytes.Buffer)
		enc := json.NewEncoder(body)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]string{"text": text}); err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, chat.URL, body)
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := chat.Client().Do(r)
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("the chat answered %d", res.StatusCode)
		}
		return nil
	})
	// A host runs: go console.Notices{Gate: …, Scope: "shop", Link: …, To: slack}.Run(ctx)
	err := slack.Notify(context.Background(), console.Notice{
		State: ledger.StateProposed, Sentence: `Note "<!channel>" on order "W42".`, Link: "https://shop.example/console/proposals/42",
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"text":"proposed: Note \"&lt;!channel&gt;\" on order \"W42\".\n<https://shop.example/console/proposals/42|Open it>"}
}
