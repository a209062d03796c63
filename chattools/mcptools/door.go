package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
)

// door is the SDK's server with all that matters taken out of its hands: whatever is about tools is answered before
// it gets there, and it knows none of them.
type door struct {
	*Server
	mcp   *mcp.Server
	fixed authz.Session // of a local client; zero where each request says who calls
}

// open returns the SDK's server for one local client, or with the zero session for all that come by HTTP.
func (s *Server) open(fixed authz.Session) *mcp.Server {
	d := &door{Server: s, fixed: fixed}
	versions := mcp.SupportedProtocolVersions()
	if s.config.Stateful && fixed.IsZero() {
		versions = slices.DeleteFunc(slices.Clone(versions), func(v string) bool { return v >= sessionless })
	}
	d.mcp = mcp.NewServer(&mcp.Implementation{Name: s.config.Name, Version: s.config.Version}, &mcp.ServerOptions{
		Instructions: s.config.Instructions,
		Capabilities: capable(true), SupportedProtocolVersions: versions,
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	touch(d.mcp)
	d.mcp.AddReceivingMiddleware(d.receive)
	d.mcp.AddSendingMiddleware(d.send)
	return d.mcp
}

// capable says what the server has: tools, and no prompts and resources, whose lists are empty for clients that ask
// for them unasked.
func capable(news bool) *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: news}, Prompts: new(mcp.PromptCapabilities), Resources: new(mcp.ResourceCapabilities)}
}

// hidden is the one tool that the SDK knows and that no list shows. The result of every call passes through it,
// because the SDK completes results of its own tools by what the revision demands; and it is put there anew when
// clients are to be told of a change, because then the SDK tells them.
const hidden = "hidden"

type resultKey struct{}

func touch(server *mcp.Server) {
	server.AddTool(&mcp.Tool{Name: hidden, InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, _ := ctx.Value(resultKey{}).(*mcp.CallToolResult)
		return res, nil
	})
}

// receive handles a message of a client. The SDK runs handlers where a panic would end the process.
func (d *door) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				d.log().ErrorContext(ctx, "an MCP request panicked", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
			}
		}()
		session := d.identity(r)
		if session.IsZero() {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "nobody is logged in"}
		}
		client, _ := r.GetSession().(*mcp.ServerSession)
		switch method {
		case "tools/list":
			return d.list(ctx, client, session, r)
		case "tools/call":
			res, err := d.call(d.own(ctx), session, r)
			if err != nil {
				return nil, err
			}
			through := &mcp.CallToolRequest{Session: client, Params: &mcp.CallToolParamsRaw{Name: hidden}, Extra: r.GetExtra()}
			return next(context.WithValue(ctx, resultKey{}, res), method, through)
		case "subscriptions/listen":
			defer d.watch.add(d.mcp, client, session)()
		case "initialize":
			return d.initialize(client, session, func() (mcp.Result, error) { return next(ctx, method, r) })
		case "ping", "server/discover", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
		default:
			if !strings.HasPrefix(method, "notifications/") {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this is not offered"}
			}
		}
		return next(ctx, method, r)
	}
}

// identity is who makes this request. An HTTP request brings its own; no other one counts, and least of all the
// one that the context has, which is that of the request that opened the session.
func (d *door) identity(r mcp.Request) authz.Session {
	if !d.fixed.IsZero() {
		return d.fixed
	}
	extra := r.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return authz.Session{}
	}
	session, _ := extra.TokenInfo.Extra[sessionKey].(authz.Session)
	return session
}

// own is the context for a call. In a session that is kept, the values of the SDK's context are those of the
// request that opened it, so a run function must not find them.
func (d *door) own(ctx context.Context) context.Context {
	if d.config.Stateful && d.fixed.IsZero() {
		return valueless{ctx}
	}
	return ctx
}

type valueless struct{ context.Context }

func (valueless) Value(any) any { return nil }

// initialize opens a session of the revisions that have one. It listens as long as it lasts, if it does.
func (d *door) initialize(client *mcp.ServerSession, session authz.Session, next func() (mcp.Result, error)) (mcp.Result, error) {
	res, err := next()
	if err != nil {
		return nil, err
	}
	if d.config.Stateful || !d.fixed.IsZero() {
		remove := d.watch.add(d.mcp, client, session)
		end := func() {}
		if d.fixed.IsZero() {
			end = d.kept.keep(user(session), client)
		}
		go func() {
			_ = client.Wait()
			end()
			remove()
		}()
	} else if r, ok := res.(*mcp.InitializeResult); ok {
		r.Capabilities = capable(false) // there is no way to tell it
	}
	return res, nil
}

// list answers with the whole catalog: there is one page and no cursor.
func (d *door) list(ctx context.Context, client *mcp.ServerSession, session authz.Session, r mcp.Request) (mcp.Result, error) {
	if r, ok := r.(*mcp.ListToolsRequest); ok && r.Params != nil && r.Params.Cursor != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such cursor"}
	}
	catalog, err := d.gate.Load().Catalog(ctx, session)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the tools cannot be listed"}
	}
	d.watch.listed(client, session, catalog)
	res := &mcp.ListToolsResult{Tools: make([]*mcp.Tool, len(catalog)), Cacheable: mcp.Cacheable{CacheScope: "private"}}
	for i, t := range catalog {
		res.Tools[i] = describe(t)
	}
	return res, nil
}

// describe says all four hints, since clients differ on what is meant by their absence. What an action reaches
// beyond the application it does not say, so the protocol's default stands.
func describe(t *chattools.Tool) *mcp.Tool {
	destructive, open := t.Destructive, true
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.Schema,
		Annotations: &mcp.ToolAnnotations{
			Title: t.Title, ReadOnlyHint: t.Mode == authz.Read, DestructiveHint: &destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &open,
		},
	}
}

// call passes one call to the gate.
func (d *door) call(ctx context.Context, session authz.Session, r mcp.Request) (*mcp.CallToolResult, error) {
	req, ok := r.(*mcp.CallToolRequest)
	if !ok || req.Params == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "a call needs parameters"}
	}
	arguments := req.Params.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage(`{}`)
	}
	a := d.gate.Load().Call(ctx, session, chattools.Call{Name: req.Params.Name, Arguments: arguments})
	if a.Status == chattools.Unknown {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: a.Text}
	}
	return d.result(session, a), nil
}

// send keeps to itself the notifications of the SDK, which go to everybody, but for those that are due.
func (d *door) send(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		client, ok := r.GetSession().(*mcp.ServerSession)
		switch {
		case ok && method == "notifications/tools/list_changed" && !d.watch.due(client):
			return nil, nil
		case ok && method == "notifications/subscriptions/acknowledged":
			defer d.watch.begun(client)
		}
		return next(ctx, method, r)
	}
}

// sessionless is the first revision without sessions.
const sessionless = "2026-07-28"

// idle is how long a session is kept that is not used.
const idle = 30 * time.Minute
