package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/registry"
)

// Permissions of the actions mcp_list_servers and mcp_review_server, which read, and of mcp_add_server,
// mcp_accept_server and mcp_remove_server, which change.
const (
	ReadServers authz.Permission = registry.Administrative + "mcp-read"
	EditServers authz.Permission = registry.Administrative + "mcp"
)

// Added is a server to be added. None of its tools is available before it is accepted.
type Added struct {
	Name    string `json:"name" jsonschema:"minLength=1,maxLength=20" jsonschema_description:"Begins the names of its tools"`
	Address string `json:"address" jsonschema:"minLength=1,maxLength=2048" jsonschema_description:"Where it is, as the application understands it"`
}

// Named names a server.
type Named struct {
	Name string `json:"name"`
}

// Accepted is a server as its review showed it.
type Accepted struct {
	Name   string `json:"name"`
	Digest string `json:"digest" jsonschema_description:"The digest that mcp_review_server gave; anything else is refused"`
}

// Review is how a server differs from what was accepted of it.
type Review struct {
	Server      string   `json:"server"`
	Address     string   `json:"address"`
	Digest      string   `json:"digest"` // of what the server has now
	Accepted    bool     `json:"accepted"`
	Differences []Change `json:"differences"`
	Refused     []string `json:"refused"` // tools that cannot be used, and why
}

// Change is one difference. Before and After are the server's words in display form: data, whatever they say.
type Change struct {
	Tool   string `json:"tool"`
	Field  string `json:"field"` // empty for a tool that is new or gone
	Before string `json:"before"`
	After  string `json:"after"`
}

// Listed is a server and its tools.
type Listed struct {
	Name    string   `json:"name"`
	Address string   `json:"address"`
	Tools   []string `json:"tools"`       // the names of its actions
	Out     []string `json:"unavailable"` // why accepted tools are not among them
}

// Done says what was done.
type Done struct {
	Done string `json:"done"`
}

// administration returns the actions by which an owner decides about servers.
func (g *Gateway) administration() []*registry.Action {
	return []*registry.Action{
		registry.Define("mcp_list_servers", registry.Spec[struct{}]{
			Description: "List the MCP servers of this scope and what is available of them.",
			Permission:  ReadServers, Mode: authz.Read, Explicit: true,
		}, scoped(g, func(context.Context, struct{}, registry.Current) ([]Listed, error) { return g.listed() })),
		registry.Define("mcp_review_server", registry.Spec[Named]{
			Description: "Ask an MCP server what tools it has now, and compare them with what was accepted. What differs is unavailable from then on.",
			Permission:  ReadServers, Mode: authz.Read, Explicit: true,
		}, scoped(g, func(ctx context.Context, p Named, c registry.Current) (Review, error) {
			s, list, refused, err := g.look(ctx, p.Name, c.Session)
			if err != nil {
				return Review{}, err
			}
			g.compared(s, list)
			return g.review(s, list, refused)
		})),
		administer(g, "mcp_add_server", "Add an MCP server to this scope. Nothing of it is available before it is accepted.",
			"Add the MCP server {name} at {address}.", "by removing it", nil, g.add),
		administer(g, "mcp_accept_server", "Accept all tools of an MCP server as its review showed them.",
			"Accept the tools of the MCP server {name} as they are now.", "by removing the server; what was done meanwhile stays done", g.preview, g.accept),
		administer(g, "mcp_remove_server", "Remove an MCP server and all its tools from this scope.",
			"Remove the MCP server {name}.", "by adding and accepting it again", nil, g.remove),
	}
}

// scoped refuses the sessions of other scopes: the registry is one scope's.
func scoped[P, R any](g *Gateway, run func(context.Context, P, registry.Current) (R, error)) func(context.Context, P) (R, error) {
	return func(ctx context.Context, p P) (r R, err error) {
		c, ok := registry.CallFrom(ctx)
		if !ok || c.Session.Scope() != g.Scope {
			return r, (&Error{Reason: WrongScope}).told()
		}
		r, err = run(ctx, p, c)
		if e, ok := errors.AsType[*Error](err); ok {
			err = e.told()
		}
		return r, err
	}
}

func administer[P any](g *Gateway, name, description, sentence, undo string, preview func(context.Context, P) ([]registry.Difference, error), run func(context.Context, P, registry.Current) (string, error)) *registry.Action {
	return registry.Define(name, registry.Spec[P]{
		Description: description, Sentence: sentence, Permission: EditServers, Mode: authz.Propose, Explicit: true,
		Risk: registry.RiskHigh, Reach: "what models can do in this scope", Undo: undo, Preview: preview,
	}, scoped(g, func(ctx context.Context, p P, c registry.Current) (Done, error) {
		did, err := run(ctx, p, c)
		return Done{did}, err
	}))
}

func (g *Gateway) listed() ([]Listed, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := []Listed{}
	for _, s := range g.pins.Servers {
		tools, err := g.restore(s)
		if err != nil {
			return nil, err
		}
		l := Listed{Name: s.Name, Address: s.Address, Tools: []string{}, Out: []string{}}
		for _, t := range tools {
			switch why, out := g.suspended[[2]string{s.Name, t.tool.Name}]; {
			case out:
				l.Out = append(l.Out, why)
			case !t.policy.Hidden:
				l.Tools = append(l.Tools, t.name)
			}
		}
		list = append(list, l)
	}
	return list, nil
}

func (g *Gateway) add(_ context.Context, p Added, _ registry.Current) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !serverName.MatchString(p.Name) || p.Name == "mcp" {
		return "", refuse("a server's name is a small letter and up to 19 more or digits, and not mcp")
	}
	if _, there := g.server(p.Name); there {
		return "", refuse("there is a server %s already", p.Name)
	}
	servers := append(g.pins.clone().Servers, Server{Name: p.Name, Address: p.Address, Tools: []json.RawMessage{}})
	if err := g.save(context.Background(), servers, g.suspended); err != nil {
		return "", err
	}
	return "added " + p.Name, nil
}

func (g *Gateway) remove(_ context.Context, p Named, _ registry.Current) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, there := g.server(p.Name); !there {
		return "", refuse("there is no server of that name")
	}
	servers := slices.DeleteFunc(g.pins.clone().Servers, func(s Server) bool { return s.Name == p.Name })
	if err := g.save(context.Background(), servers, without(g.suspended, p.Name)); err != nil {
		return "", err
	}
	g.pool.forget(p.Name)
	return "removed " + p.Name, nil
}

// without is what is suspended of other servers.
func without(suspended map[[2]string]string, server string) map[[2]string]string {
	rest := map[[2]string]string{}
	for key, why := range suspended {
		if key[0] != server {
			rest[key] = why
		}
	}
	return rest
}

func (g *Gateway) accept(ctx context.Context, p Accepted, c registry.Current) (string, error) {
	s, list, _, err := g.look(ctx, p.Name, c.Session)
	if err != nil {
		return "", err
	}
	if digest(s, list) != p.Digest {
		return "", refuse("the server is not what was reviewed; review it again")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	servers := g.pins.clone().Servers
	i := slices.IndexFunc(servers, func(other Server) bool { return other.Name == s.Name && other.Address == s.Address })
	if i < 0 {
		return "", refuse("the server was removed meanwhile")
	}
	servers[i].Tools = []json.RawMessage{}
	for _, d := range list {
		servers[i].Tools = append(servers[i].Tools, d.text.Bytes())
	}
	if err := g.save(context.Background(), servers, without(g.suspended, s.Name)); err != nil {
		return "", err
	}
	return fmt.Sprintf("accepted %d tools of %s", len(list), s.Name), nil
}

// look asks a server what it has, on the connection of whoever wants to know.
func (g *Gateway) look(ctx context.Context, name string, session authz.Session) (s Server, list []definition, refused []*Error, err error) {
	g.mu.Lock()
	s, there := g.server(name)
	g.mu.Unlock()
	if !there {
		return s, nil, nil, refuse("there is no server of that name")
	}
	err = g.pool.with(ctx, s, session, func(ctx context.Context, l *link) error {
		now, err := l.current(ctx, g.Limits, 0)
		if err == nil {
			list, refused = g.usable(s, now)
		}
		return err
	})
	return s, list, refused, err
}

// preview shows what accepting a server would change.
func (g *Gateway) preview(ctx context.Context, p Accepted) ([]registry.Difference, error) {
	c, ok := registry.CallFrom(ctx)
	if !ok {
		return nil, errors.New("mcpgateway: not called by a registry")
	}
	s, list, refused, err := g.look(ctx, p.Name, c.Session)
	if err != nil {
		return nil, err
	}
	r, err := g.review(s, list, refused)
	if err != nil {
		return nil, err
	}
	if r.Digest != p.Digest {
		return nil, refuse("the server is not what was reviewed; review it again")
	}
	var lines []registry.Difference
	for _, d := range r.Differences {
		lines = append(lines, registry.Difference{Label: strings.TrimSpace(d.Tool + " " + d.Field), Before: d.Before, After: d.After})
	}
	return lines, nil
}

// review compares what a server has with what was accepted.
func (g *Gateway) review(s Server, list []definition, refused []*Error) (Review, error) {
	r := Review{Server: s.Name, Address: s.Address, Digest: digest(s, list), Differences: []Change{}, Refused: []string{}}
	for _, e := range refused {
		r.Refused = append(r.Refused, e.Error())
	}
	slices.Sort(r.Refused)
	before, after := map[string]canon.Object{}, map[string]canon.Object{}
	was, err := g.restore(s)
	if err != nil {
		return r, err
	}
	names := map[string]bool{}
	for _, t := range was {
		before[t.tool.Name], names[t.tool.Name] = t.tool.text, true
	}
	for _, d := range list {
		after[d.Name], names[d.Name] = d.text, true
	}
	for name := range names {
		changes, err := compare(name, before[name], after[name])
		if err != nil {
			return r, err
		}
		r.Differences = append(r.Differences, changes...)
	}
	slices.SortFunc(r.Differences, func(a, b Change) int {
		return strings.Compare(a.Tool+"\x00"+a.Field, b.Tool+"\x00"+b.Field)
	})
	r.Accepted = len(r.Differences) == 0
	return r, nil
}

// compare lists the members in which two definitions of a tool differ. The zero Object is none.
func compare(name string, before, after canon.Object) ([]Change, error) {
	tool := canon.Quote(name)
	switch {
	case before == after:
		return nil, nil
	case before.IsZero() || after.IsZero():
		return []Change{{tool, "", before.Display(0), after.Display(0)}}, nil
	}
	var a, b map[string]jsontext.Value
	if err := errors.Join(json.Unmarshal(before.Bytes(), &a), json.Unmarshal(after.Bytes(), &b)); err != nil {
		return nil, err
	}
	fields := map[string]bool{}
	for f := range a {
		fields[f] = true
	}
	for f := range b {
		fields[f] = true
	}
	var changes []Change
	for f := range fields {
		if string(a[f]) != string(b[f]) {
			changes = append(changes, Change{tool, canon.Quote(f), display(a[f]), display(b[f])})
		}
	}
	return changes, nil
}

// display makes every character of a member visible.
func display(v jsontext.Value) string {
	if len(v) == 0 {
		return ""
	}
	o, err := canon.Parse([]byte(`{"is":`+string(v)+`}`), canon.Options{AllowFoldClash: true})
	if err != nil {
		return canon.Quote(string(v)) // too deep with one level more
	}
	return o.Display(0)
}
