package anthropic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

const secret = "sk-ant-secret"

// said is one block of an answer.
type said struct {
	text      string
	thinking  string // with a signature
	redacted  string
	call      string // name of the tool
	id        string
	input     string   // raw JSON, when the answer comes in one piece
	initial   string   // raw JSON that the block begins with, in a stream; "-" leaves it out
	fragments []string // of the input, in a stream; without them the input is one fragment
	bare      bool     // no fragment at all
}

// reply is what the server answers to one request.
type reply struct {
	stop   string
	blocks []said
	status int               // of an error
	header map[string]string // of an error
	body   string            // of an error, or instead of what blocks would make
	events []string          // instead of what blocks would make: event name and data
	cut    int               // bytes after which the connection ends; zero means never
	length int               // events after which the stream ends; zero means all
}

// api is a server that speaks the Messages API and refuses what the API refuses.
type api struct {
	*httptest.Server
	mu       sync.Mutex
	script   []reply
	requests []string // bodies
	refused  []string // why
	signed   map[string]string
}

func newAPI(script ...reply) *api {
	a := &api{script: script, signed: map[string]string{}}
	a.Server = httptest.NewServer(http.HandlerFunc(a.serve))
	return a
}

// client is a client of the SDK as a host makes it.
func (a *api) client() sdk.Client {
	return sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(a.URL), option.WithAPIKey(secret), option.WithHTTPClient(a.Client()))
}

func (a *api) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if problem := a.check(r, body); problem != "" {
		a.refused = append(a.refused, problem)
		w.Header().Set("content-type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, problem)
		return
	}
	a.requests = append(a.requests, string(body))
	next := reply{stop: "end_turn", blocks: []said{{text: "Nothing more."}}}
	if len(a.script) > 0 {
		next, a.script = a.script[0], a.script[1:]
	}
	w.Header().Set("request-id", fmt.Sprintf("req_%d", len(a.requests)))
	for name, value := range next.header {
		w.Header().Set(name, value)
	}
	for i, b := range next.blocks {
		if b.thinking != "" {
			a.signed[b.signature()] = b.thinking
		}
		if b.call != "" && b.id == "" {
			next.blocks[i].id = fmt.Sprintf("toolu_%d_%d", len(a.requests), i)
		} else if b.id == "-" {
			next.blocks[i].id = ""
		}
	}
	var stream struct{ Stream bool }
	_ = json.Unmarshal(body, &stream)
	switch {
	case next.status != 0:
		w.Header().Set("content-type", "application/json")
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
	case stream.Stream:
		w.Header().Set("content-type", "text/event-stream; charset=utf-8")
		a.send(w, next, next.stream())
	default:
		w.Header().Set("content-type", "application/json")
		text := next.body
		if text == "" {
			text = next.message()
		}
		a.send(w, next, text)
	}
}

// send writes an answer, and tears the connection where it is to break.
func (a *api) send(w http.ResponseWriter, r reply, text string) {
	if r.cut > 0 {
		_, _ = io.WriteString(w, text[:min(r.cut, len(text))])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, text)
}

func (b said) signature() string { return "signature of <" + b.thinking + ">" }

const usage = `{"input_tokens":20,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"output_tokens":%d}`

// message is an answer in one piece.
func (r reply) message() string {
	var blocks []string
	for _, b := range r.blocks {
		switch {
		case b.call != "":
			input := ""
			if b.input != "" {
				input = `,"input":` + b.input
			}
			blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q%s}`, b.id, b.call, input))
		case b.thinking != "":
			blocks = append(blocks, fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":%s}`, quote(b.thinking), quote(b.signature())))
		case b.redacted != "":
			blocks = append(blocks, fmt.Sprintf(`{"type":"redacted_thinking","data":%q}`, b.redacted))
		default:
			blocks = append(blocks, fmt.Sprintf(`{"type":"text","text":%s,"citations":null}`, quote(b.text)))
		}
	}
	return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":`+usage+`}`,
		strings.Join(blocks, ","), r.stop, 7)
}

func quote(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// stream is an answer in events.
func (r reply) stream() string {
	events := r.events
	if events == nil {
		events = r.list()
	}
	if r.length > 0 {
		events = events[:min(r.length, len(events))]
	}
	var b strings.Builder
	for _, e := range events {
		name, data, _ := strings.Cut(e, " ")
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", name, data)
	}
	return b.String()
}

func (r reply) list() []string {
	events := []string{
		`message_start {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"stop_sequence":null,"usage":` + fmt.Sprintf(usage, 1) + `}}`,
		`ping {"type":"ping"}`,
	}
	for i, b := range r.blocks {
		start := func(block string) {
			events = append(events, fmt.Sprintf(`content_block_start {"type":"content_block_start","index":%d,"content_block":%s}`, i, block))
		}
		delta := func(d string) {
			events = append(events, fmt.Sprintf(`content_block_delta {"type":"content_block_delta","index":%d,"delta":%s}`, i, d))
		}
		switch {
		case b.call != "":
			initial := `,"input":{}`
			switch b.initial {
			case "":
			case "-":
				initial = ""
			default:
				initial = `,"input":` + b.initial
			}
			start(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q%s}`, b.id, b.call, initial))
			fragments := b.fragments
			if fragments == nil && !b.bare {
				fragments = []string{"", b.input}
			}
			for _, f := range fragments {
				if !strings.HasPrefix(f, "raw:") { // one that is written as it is
					f = quote(f)
				}
				delta(`{"type":"input_json_delta","partial_json":` + strings.TrimPrefix(f, "raw:") + `}`)
			}
		case b.thinking != "":
			start(`{"type":"thinking","thinking":"","signature":""}`)
			half := len(b.thinking) / 2
			delta(`{"type":"thinking_delta","thinking":` + quote(b.thinking[:half]) + `}`)
			delta(`{"type":"thinking_delta","thinking":` + quote(b.thinking[half:]) + `}`)
			delta(`{"type":"signature_delta","signature":` + quote(b.signature()) + `}`)
		case b.redacted != "":
			start(fmt.Sprintf(`{"type":"redacted_thinking","data":%q}`, b.redacted))
		default:
			start(`{"type":"text","text":""}`)
			for _, word := range strings.SplitAfter(b.text, " ") {
				delta(`{"type":"text_delta","text":` + quote(word) + `}`)
			}
		}
		events = append(events, fmt.Sprintf(`content_block_stop {"type":"content_block_stop","index":%d}`, i), `ping {"type":"ping"}`)
	}
	return append(events,
		fmt.Sprintf(`message_delta {"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":7}}`, r.stop),
		`message_stop {"type":"message_stop"}`)
}
