package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const secret = "sk-proj-secret"

// said is one piece of an answer.
type said struct {
	text      string
	refusal   string
	phase     string   // of text, in responses
	thinking  string   // in responses
	call      string   // name of the tool
	id        string   // of the call; "-" is an empty one
	input     string   // its arguments; as raw JSON after "raw:", and left out if it is "-"
	fragments []string // of the arguments, in a stream of chat completions; without them the input is one fragment
}

// reply is what the server answers to one request.
type reply struct {
	stop   string // in the words of chat completions
	pieces []said
	status int               // of an error
	header map[string]string // of an error
	body   string            // of an error, or instead of what pieces would make
	events []string          // instead of what pieces would make: the data of each
	cut    int               // bytes after which the connection ends; zero means never
	length int               // events after which the stream ends; zero means all
}

// api is a server that speaks chat completions and responses, and refuses what the API refuses.
type api struct {
	*httptest.Server
	mu       sync.Mutex
	script   []reply
	requests []string          // bodies
	refused  []string          // why
	items    map[string]string // of responses: the reasoning that each item came with
	thoughts map[string]string // of responses: what was encrypted, by the id of the reasoning
}

func newAPI(script ...reply) *api {
	a := &api{script: script, items: map[string]string{}, thoughts: map[string]string{}}
	a.Server = httptest.NewServer(http.HandlerFunc(a.serve))
	return a
}

// client is a client of the SDK as a host makes it.
func (a *api) client() sdk.Client {
	return sdk.NewClient(option.WithBaseURL(a.URL+"/v1"), option.WithAPIKey(secret), option.WithHTTPClient(a.Client()),
		option.WithOrganization(""), option.WithProject(""))
}

func (a *api) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	chat := r.URL.Path == "/v1/chat/completions"
	if problem := a.check(r, chat, body); problem != "" {
		a.refused = append(a.refused, problem)
		w.Header().Set("content-type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, problem)
		return
	}
	a.requests = append(a.requests, string(body))
	next := reply{stop: "stop", pieces: []said{{text: "Nothing more."}}}
	if len(a.script) > 0 {
		next, a.script = a.script[0], a.script[1:]
	}
	w.Header().Set("x-request-id", fmt.Sprintf("req_%d", len(a.requests)))
	for name, value := range next.header {
		w.Header().Set(name, value)
	}
	if next.status != 0 {
		w.Header().Set("content-type", "application/json")
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
		return
	}
	var asked struct{ Stream bool }
	_ = json.Unmarshal(body, &asked)
	if asked.Stream {
		w.Header().Set("content-type", "text/event-stream; charset=utf-8")
	} else {
		w.Header().Set("content-type", "application/json")
	}
	text := a.write(next, way{chat: chat, stream: asked.Stream}, len(a.requests))
	if next.cut > 0 { // tears the connection
		_, _ = io.WriteString(w, text[:min(next.cut, len(text))])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, text)
}

// check says what the API would refuse.
func (a *api) check(r *http.Request, chat bool, body []byte) string {
	if r.Method != http.MethodPost || !chat && r.URL.Path != "/v1/responses" {
		return "not an address of the API"
	}
	if r.Header.Get("authorization") != "Bearer "+secret || r.Header.Get("content-type") != "application/json" {
		return "a header is missing"
	}
	if !jsontext.Value(body).IsValid() {
		return "We could not parse the JSON body of your request."
	}
	if chat {
		return checkChat(body)
	}
	return a.checkResponses(body)
}

// write is an answer on the wire.
func (a *api) write(r reply, how way, turn int) string {
	pieces := make([]said, len(r.pieces))
	for i, p := range r.pieces {
		if p.call != "" && p.id == "" {
			p.id = fmt.Sprintf("call_%d_%d", turn, i)
		} else if p.id == "-" {
			p.id = ""
		}
		pieces[i] = p
	}
	r.pieces = pieces
	if !how.stream {
		switch {
		case r.body != "":
			return r.body
		case how.chat:
			return r.completion()
		}
		return a.response(r, turn)
	}
	events := r.events
	switch {
	case events != nil:
	case how.chat:
		events = r.chunks()
	default:
		events = a.events(r, turn)
	}
	if r.length > 0 {
		events = events[:min(r.length, len(events))]
	}
	var b strings.Builder
	for _, data := range events {
		if !how.chat {
			var e struct{ Type string }
			_ = json.Unmarshal([]byte(data), &e)
			fmt.Fprintf(&b, "event: %s\n", e.Type)
		}
		fmt.Fprintf(&b, "data: %s\n\n", data)
	}
	return b.String()
}

func quote(text string) string {
	if raw, ok := strings.CutPrefix(text, "raw:"); ok {
		return raw
	}
	raw, _ := json.Marshal(text)
	return string(raw)
}

// argumentsField is the member with the arguments, unless it is left out.
func (p said) argumentsField() string {
	if p.input == "-" {
		return ""
	}
	return `,"arguments":` + quote(p.input)
}

func (r reply) text() (text, refusal string) {
	for _, p := range r.pieces {
		text += p.text
		refusal += p.refusal
	}
	return text, refusal
}
