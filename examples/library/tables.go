package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/registry"
)

// tables are the library's own: as a program would have them without any model.
type tables struct {
	mu        sync.Mutex
	accounts  []account
	shares    []share
	grants    []grant
	documents map[string]string // text by path
}

// account is a row of users, models among them.
type account struct {
	id, name string
	model    bool
	disabled bool
	role     string
}

// share says what an account may or may not do with a collection and all below it.
type share struct {
	account, collection string
	allowed             bool
	what                []authz.Permission
}

// grant is a standing approval that somebody gave a model.
type grant struct {
	model, tool string
	authz.Standing
}

// sample fills the tables.
func sample() *tables {
	return &tables{
		accounts: []account{
			{id: "olga", name: "Olga", role: authz.Owner},
			{id: "ivan", name: "Ivan", role: authz.Viewer},
			{id: "vera", name: "Vera", role: authz.Viewer},
			{id: "archivist", name: "The archivist", model: true, role: authz.Editor},
			{id: "guide", name: "The guide", model: true, role: authz.Viewer},
		},
		shares: []share{
			{"ivan", "/history", true, []authz.Permission{editDocs, deleteDocs}},
			{"ivan", "/history/sealed", false, []authz.Permission{authz.Every}},
			{"archivist", "/science", false, []authz.Permission{editDocs, deleteDocs}},
		},
		documents: map[string]string{
			"/history/rome/fall-of-rome": "Rome fell.",
			"/history/rome/old-notes":    "To be sorted.",
			"/history/sealed/letters":    "Private.",
			"/science/physics/light":     "Light is fast.",
		},
	}
}

// approveInAdvance writes the row that Olga's click on a settings page would: the archivist may edit below
// /history for a week without asking.
func (t *tables) approveInAdvance(keys *token.Ring, actions []*registry.Action, now time.Time) error {
	i := slices.IndexFunc(actions, func(a *registry.Action) bool { return a.Name == "edit_document" })
	g := grant{"archivist", actions[i].Name, authz.Standing{
		ID: "grant-1", By: "olga", Since: now, Until: now.Add(7 * 24 * time.Hour), Uses: 20,
		Below: authz.MustPath("/history"), Definition: actions[i].Definition,
	}}
	if err := authz.SealStanding(keys, scope, authz.ID(g.model), g.tool, &g.Standing); err != nil {
		return err
	}
	t.grants = append(t.grants, g)
	return nil
}

// revoke takes all standing approvals of a model away.
func (t *tables) revoke(model string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.grants = slices.DeleteFunc(t.grants, func(g grant) bool { return g.model == model })
}

// Permissions of the library.
const (
	listDocs   authz.Permission = "docs:list"
	readDocs   authz.Permission = "docs:read"
	editDocs   authz.Permission = "docs:edit"
	deleteDocs authz.Permission = "docs:delete"
)

// Everything is what list_documents takes.
type Everything struct{}

// Document names one document.
type Document struct {
	Path string `json:"path" jsonschema_description:"Collection and name, such as /history/rome/fall-of-rome"`
}

// Edit is a document's new text.
type Edit struct {
	Path string `json:"path" jsonschema_description:"Collection and name, such as /history/rome/fall-of-rome"`
	Text string `json:"text" jsonschema:"maxLength=10000"`
}

// actions are what the library can do. The target of an action is the document's own path, which has to be
// canonical and has to exist.
func (t *tables) actions() []*registry.Action {
	document := func(text string) ([]authz.Path, error) {
		path, err := authz.ParsePath(text)
		if err != nil {
			return nil, err
		}
		if _, ok := t.text(text); !ok {
			return nil, registry.ErrNoTarget
		}
		return []authz.Path{path}, nil
	}
	return []*registry.Action{
		registry.Define("list_documents", registry.Spec[Everything]{
			Description: "List the documents that can be read.", Permission: listDocs, Mode: authz.Read,
		}, t.list),
		registry.Define("read_document", registry.Spec[Document]{
			Description: "Read a document.", Permission: readDocs, Mode: authz.Read,
			Target: func(_ context.Context, p Document) ([]authz.Path, error) { return document(p.Path) },
		}, func(_ context.Context, p Document) (string, error) { text, _ := t.text(p.Path); return text, nil }),
		registry.Define("edit_document", registry.Spec[Edit]{
			Description: "Replace a document's text.", Permission: editDocs, Mode: authz.Execute,
			Sentence: "Replace the text of {path} by {text}.", Risk: registry.RiskLow, Reach: "one document", Undo: "by editing it again",
			Target: func(_ context.Context, p Edit) ([]authz.Path, error) { return document(p.Path) },
		}, t.edit),
		registry.Define("delete_document", registry.Spec[Document]{
			Description: "Delete a document.", Permission: deleteDocs, Mode: authz.Propose, Destructive: true,
			Sentence: "Delete {path} for good.", Risk: registry.RiskHigh, Reach: "one document", Undo: "not at all",
			Target: func(_ context.Context, p Document) ([]authz.Path, error) { return document(p.Path) },
		}, t.remove),
	}
}

func (t *tables) text(path string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, ok := t.documents[path]
	return text, ok
}

// list returns what whoever calls may read, and nothing of the rest.
func (t *tables) list(ctx context.Context, _ Everything) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var paths []string
	for text := range t.documents {
		if path, err := authz.ParsePath(text); err == nil && registry.May(ctx, readDocs, path) {
			paths = append(paths, text)
		}
	}
	slices.SortFunc(paths, cmp.Compare[string])
	return paths, nil
}

func (t *tables) edit(_ context.Context, p Edit) (string, error) {
	if strings.TrimSpace(p.Text) == "" {
		return "", registry.Public(errors.New("a document cannot be empty"))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.documents[p.Path] = p.Text
	return "saved", nil
}

func (t *tables) remove(_ context.Context, p Document) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.documents, p.Path)
	return "deleted", nil
}
