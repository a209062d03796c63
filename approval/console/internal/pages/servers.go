package pages

import (
	"encoding/json"
	"net/http"

	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/registry"
)

// Names of the actions by which a gateway in front of external MCP servers is administered; package
// chattools/mcpgateway has them. Without them the screen is not there.
const (
	listServers  = "mcp_list_servers"
	reviewServer = "mcp_review_server"
)

// servers is what the screen of external servers shows, as the actions answer it.
type servers struct {
	Base    string
	Servers []server
}

type server struct {
	Name    string   `json:"name"`
	Address string   `json:"address"`
	Tools   []string `json:"tools"`
	Out     []string `json:"unavailable"`
}

// review is how a server differs from what was accepted of it.
type review struct {
	Base        string
	Server      string       `json:"server"`
	Address     string       `json:"address"`
	Digest      string       `json:"digest"`
	Accepted    bool         `json:"accepted"`
	Differences []difference `json:"differences"`
	Refused     []string     `json:"refused"`
}

type difference struct {
	Tool   string `json:"tool"`
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// hasServers reports whether there are external servers to administer.
func hasServers(r *web.Request) bool {
	return r.Visit != nil && r.Visit.Registry().Lookup(listServers) != nil
}

// read asks for something in the person's own name.
func read(r *web.Request, action string, params any, into any) error {
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	var res registry.Result
	if res, err = r.Visit.Invoke(r.Context(), action, text); err != nil {
		return err
	}
	return json.Unmarshal(res.JSON, into)
}

func (p *pages) servers(w http.ResponseWriter, r *web.Request) error {
	if !hasServers(r) {
		return web.NewProblem(web.CodeNotFound, "There are no external servers here.")
	}
	d := &servers{Base: base(r)}
	if err := read(r, listServers, struct{}{}, &d.Servers); err != nil {
		return err
	}
	return p.show(w, r, http.StatusOK, p.frame(r, "servers", d))
}

// review asks a server what it has now. It is no GET: what differs from what was accepted is unavailable from then on.
func (p *pages) review(w http.ResponseWriter, r *web.Request) error {
	if !hasServers(r) {
		return web.NewProblem(web.CodeNotFound, "There are no external servers here.")
	}
	v, err := form(r)
	if err != nil {
		return err
	}
	d := &review{Base: base(r)}
	if err := read(r, reviewServer, map[string]string{"name": v.Get("name")}, d); err != nil {
		return err
	}
	return p.show(w, r, http.StatusOK, p.frame(r, "review", d))
}
