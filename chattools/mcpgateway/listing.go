package mcpgateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// Tool is a tool as its server describes it: another's words, on which a [Config].Rule may look but which bind
// nobody.
type Tool struct {
	Server      string // the host's name of the server
	Name        string // as the server spells it
	Title       string
	Description string
	Schema      json.RawMessage // of the parameters
	Hints       Hints
}

// Hints are what a server says of a tool. An absent hint is read as the more careful one.
type Hints struct {
	ReadOnly, Destructive, Idempotent, OpenWorld bool
}

// definition is a tool that can be pinned.
type definition struct {
	Tool
	text    canon.Object
	changes bool // the server itself says that it is no read
}

// listing is what a server says of its tools.
type listing struct {
	tools   map[string]definition // by raw name
	refused []*Error              // tools that cannot be used
}

// page is one answer to tools/list.
type page struct {
	Tools      json.RawMessage `json:"tools"`
	NextCursor string          `json:"nextCursor"`
}

// elements returns the elements of an array in valid JSON, but none after the first that is too many: one that takes two bytes on the
// wire takes many more here.
func elements(array json.RawMessage, limit int) ([]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(array))
	if begin, err := d.Token(); err != nil || begin != json.Delim('[') {
		return nil, errors.Join(errors.New("no array"), err)
	}
	var list []json.RawMessage
	for d.More() && len(list) <= limit {
		var e json.RawMessage
		if err := d.Decode(&e); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// maxPages bounds a list, whose pages may be empty.
const maxPages = 100

// list asks a server for all its tools.
func (l *link) list(ctx context.Context, limits Limits) (*listing, error) {
	fail := func(reason Reason, err error) (*listing, error) {
		return nil, &Error{Server: l.server, Reason: reason, Err: err}
	}
	var raw []json.RawMessage
	size := 0
	headed := map[string]bool{}
	seen, cursor := map[string]bool{}, ""
	for n := 0; ; n++ {
		if n == maxPages {
			return fail(Endless, fmt.Errorf("more than %d pages", maxPages))
		}
		res, err := waitFor(ctx, func() (*mcp.ListToolsResult, error) {
			return l.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		})
		if err != nil {
			return nil, l.failed(ctx, err)
		}
		text := rawOf(res.Meta)
		if size += len(text); size > limits.Message {
			return fail(TooLarge, fmt.Errorf("a list of more than %d bytes", limits.Message))
		}
		var p page
		err = json.Unmarshal(text, &p)
		var more []json.RawMessage
		if err == nil {
			more, err = elements(p.Tools, limits.Tools)
		}
		if err != nil {
			return fail(BadListing, fmt.Errorf("an answer without a list of tools: %w", err))
		}
		for _, t := range res.Tools {
			headed[t.Name] = true
		}
		if raw = append(raw, more...); len(raw) > limits.Tools {
			return fail(Endless, fmt.Errorf("more than %d tools", limits.Tools))
		}
		if p.NextCursor == "" {
			return l.read(raw, headed, limits), nil
		}
		if seen[p.NextCursor] {
			return fail(Endless, errors.New("a cursor came twice"))
		}
		seen[p.NextCursor], cursor = true, p.NextCursor
	}
}

// read makes definitions of what a server sent. Of tools with one name none is used, and none whose parameters
// the SDK would not repeat in headers as the tool asks: headed are those that it would.
func (l *link) read(raw []json.RawMessage, headed map[string]bool, limits Limits) *listing {
	out := &listing{tools: map[string]definition{}}
	twice := map[string]bool{}
	for _, text := range raw {
		d, err := parse(l.server, text, limits)
		if err == nil && strings.Contains(d.text.String(), headerKey) && !headed[d.Name] {
			err = &Error{Server: l.server, Tool: d.Name, Reason: BadTool, Err: errors.New("its " + headerKey + " annotations are not valid")}
		}
		if err != nil {
			out.refused = append(out.refused, err)
		}
		if _, there := out.tools[d.Name]; there {
			twice[d.Name] = true
		}
		if err == nil {
			out.tools[d.Name] = d
		}
	}
	for name := range twice {
		delete(out.tools, name)
		out.refused = append(out.refused, &Error{Server: l.server, Tool: name, Reason: Duplicate, Err: errors.New("two tools have this name")})
	}
	return out
}

// parse reads a definition. Everything in it counts: what differs in any member is another tool.
func parse(server string, text json.RawMessage, limits Limits) (definition, *Error) {
	bad := func(name string, err error) (definition, *Error) {
		return definition{Tool: Tool{Name: name}}, &Error{Server: server, Tool: name, Reason: BadTool, Err: err}
	}
	if len(text) > limits.Definition {
		return definition{}, &Error{Server: server, Reason: TooLarge, Err: fmt.Errorf("a definition of %d bytes", len(text))}
	}
	o, err := canon.Parse(text, canon.Options{AllowFoldClash: true})
	if err != nil {
		return bad("", err)
	}
	var t struct {
		Name        string          `json:"name"`
		Title       string          `json:"title"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
		Annotations struct {
			Title       string `json:"title"`
			ReadOnly    *bool  `json:"readOnlyHint"`
			Destructive *bool  `json:"destructiveHint"`
			Idempotent  *bool  `json:"idempotentHint"`
			OpenWorld   *bool  `json:"openWorldHint"`
		} `json:"annotations"`
	}
	if err := json.Unmarshal(o.Bytes(), &t); err != nil {
		return bad("", err)
	}
	if t.Name == "" || len(t.Name) > 512 {
		return bad(t.Name, errors.New("the name is empty or too long"))
	}
	if !strings.HasPrefix(string(t.InputSchema), "{") {
		return bad(t.Name, errors.New("the schema of the parameters is no object"))
	}
	hint := func(b *bool, absent bool) bool {
		if b == nil {
			return absent
		}
		return *b
	}
	a := t.Annotations
	d := definition{Tool{server, t.Name, t.Title, t.Description, t.InputSchema, Hints{
		ReadOnly: hint(a.ReadOnly, false), Destructive: hint(a.Destructive, true),
		Idempotent: hint(a.Idempotent, false), OpenWorld: hint(a.OpenWorld, true),
	}}, o, !hint(a.ReadOnly, true) || hint(a.Destructive, false)}
	if d.Title == "" {
		d.Title = a.Title
	}
	return d, nil
}

// sorted returns the usable tools by raw name.
func (l *listing) sorted() []definition {
	list := make([]definition, 0, len(l.tools))
	for _, d := range l.tools {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b definition) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// digest identifies what would be accepted of a server.
func digest(s Server, tools []definition) string {
	h := sha256.New()
	h.Write(fmt.Appendf(nil, "%d %q %q", len(tools), s.Name, s.Address))
	for _, d := range tools {
		sum := d.text.Hash()
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// current returns the tools of a server, asked for anew unless a look within the age will do.
func (l *link) current(ctx context.Context, limits Limits, age time.Duration) (*listing, error) {
	ctx, cancel := bare(ctx, limits.List)
	defer cancel()
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, &Error{Server: l.server, Reason: Timeout, Err: ctx.Err()}
	}
	if age > 0 && l.tools != nil && !l.wire.stale.Load() && time.Since(l.asked) < age {
		return l.tools, nil
	}
	l.wire.stale.Store(false)
	asked := time.Now()
	tools, err := l.list(ctx, limits)
	if err != nil {
		l.tools = nil
		return nil, err
	}
	l.tools, l.asked = tools, asked
	return tools, nil
}

// waitFor calls f and waits for it as long as the context lasts: a write to a server that does not read is stopped
// by nothing but the end of the connection.
func waitFor[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		o.value, o.err = f()
		done <- o
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// failed gives an error of the SDK its reason.
func (l *link) failed(ctx context.Context, err error) *Error {
	e := &Error{Server: l.server, Reason: Lost, Err: err}
	wire, protocol := errors.AsType[*jsonrpc.Error](err)
	switch {
	case l.wire.oversize.Load():
		e.Reason = TooLarge
	case ctx.Err() != nil:
		e.Reason = Timeout
	case protocol:
		e.Reason, e.Err = Refused, fmt.Errorf("code %d: %s", wire.Code, wire.Message)
	}
	return e
}

// bare returns a context that ends with another and has none of its values: what an inbound request carries is
// not for others.
func bare(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(valueless{ctx}, limit)
}

type valueless struct{ context.Context }

func (valueless) Value(any) any { return nil }
