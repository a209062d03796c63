// Library is a document library with collections in a tree, where people and two model users work side by
// side.
//
// Accounts, shares and settings are the library's own tables (tables.go); one method (source.go) turns them
// into facts. The program prints who sees what and why, then plays a conversation: a model edits within the
// subtree where a person has approved that in advance, is refused outside, and asks where it must.
//
//	go run ./examples/library
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "library:", err)
		os.Exit(1)
	}
}

const scope authz.Scope = "library"

// The people and models of the library. People enter as the host's login says.
var (
	olga   = authz.LoggedIn("olga") // owner
	ivan   = authz.LoggedIn("ivan") // edits history
	vera   = authz.LoggedIn("vera") // reads
	models = []authz.ID{"archivist", "guide"}
)

// library is the program put together.
type library struct {
	out    io.Writer
	tables *tables
	book   *ledger.Memory
	reg    *registry.Registry
	desk   *approval.Desk
	gate   *chattools.Gate
	now    time.Time
}

func open(out io.Writer) (*library, error) {
	l := &library{out: out, tables: sample(), book: new(ledger.Memory), now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	key, err := token.NewKey("k1")
	if err != nil {
		return nil, err
	}
	keys, err := token.NewRing("example", key)
	if err != nil {
		return nil, err
	}
	actions := l.tables.actions()
	if err := l.tables.approveInAdvance(keys, actions, l.now); err != nil {
		return nil, err
	}
	l.reg, err = registry.New(registry.Config{
		Actions: actions, ProposeOnly: []authz.Permission{deleteDocs}, Source: l.tables, Ledger: l.book, Keys: keys,
		Now: func() time.Time { return l.now },
	})
	if err != nil {
		return nil, err
	}
	l.desk = approval.NewDesk(l.reg)
	l.gate = chattools.NewGate(l.desk)
	return l, nil
}

func (l *library) say(format string, args ...any) { fmt.Fprintf(l.out, format+"\n", args...) }

func run(ctx context.Context, out io.Writer) error {
	l, err := open(out)
	if err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{l.catalogs, l.reasons, l.conversation, l.audit} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// catalogs prints which tools each model sees. Whom it acts for changes what a call may touch, not the list.
func (l *library) catalogs(ctx context.Context) error {
	l.say("Which tools each model sees:")
	for _, model := range models {
		s, err := authz.NewSession(scope, model, authz.For(ivan))
		if err != nil {
			return err
		}
		tools, err := l.gate.Catalog(ctx, s)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("  %-10s", model)
		for _, t := range tools {
			line += fmt.Sprintf(" %s (%s)", t.Name, t.Mode)
		}
		l.say("%s", line)
	}
	return nil
}

// reasons prints why, for the operator.
func (l *library) reasons(ctx context.Context) error {
	l.say("\nWhy, in the words that only the owner gets to see:")
	for _, q := range []struct {
		model  authz.ID
		person authz.Person
		action string
		target string // "" asks whether the tool is there at all
	}{
		{"guide", vera, "edit_document", ""},
		{"archivist", ivan, "edit_document", "/history/rome/fall-of-rome"},
		{"archivist", ivan, "edit_document", "/science/physics/light"},
		{"archivist", vera, "edit_document", "/history/rome/fall-of-rome"},
		{"archivist", ivan, "read_document", "/history/sealed/letters"},
	} {
		s, err := authz.NewSession(scope, q.model, authz.For(q.person))
		if err != nil {
			return err
		}
		var targets []authz.Path
		if q.target != "" {
			targets = []authz.Path{authz.MustPath(q.target)}
		}
		why, err := l.reg.Explain(ctx, olga, s, q.action, targets...)
		if err != nil {
			return err
		}
		l.say("%s: %s\n%s", s, strings.TrimSpace(q.action+" "+q.target), why)
	}
	may, err := l.reg.WhoMay(ctx, olga, scope, "edit_document", authz.ToPerform, authz.MustPath("/history/rome"))
	if err != nil {
		return err
	}
	l.say("Who may edit below /history/rome: %v", may)
	below, err := l.reg.Below(ctx, olga, scope, "ivan", authz.MustPath("/science"))
	l.say("What ivan may do below /science: %v", below)
	return err
}

// conversation plays what the models do.
func (l *library) conversation(ctx context.Context) error {
	l.say("\nIvan asks the archivist to tidy up:")
	s, err := authz.NewSession(scope, "archivist", authz.For(ivan))
	if err != nil {
		return err
	}
	s = s.WithConversation("c1").WithRun("r1").WithOrigin("chat")
	l.call(ctx, s, "list_documents", `{}`)
	l.call(ctx, s, "edit_document", `{"path": "/history/rome/fall-of-rome", "text": "Rome fell slowly."}`)
	l.call(ctx, s, "edit_document", `{"path": "/science/physics/light", "text": "Light is heavy."}`)
	l.call(ctx, s, "edit_document", `{"path": "/history/rome/../../science/physics/light", "text": "Light is heavy."}`)
	wait := l.call(ctx, s, "delete_document", `{"path": "/history/rome/old-notes"}`)

	card, err := l.desk.Open(ctx, scope, wait.Proposal, olga)
	if err != nil {
		return err
	}
	l.say("  Olga opens it and reads: %s", card.Card.Sentence)
	if _, err := l.desk.Approve(ctx, card.Redemption()); err != nil {
		return err
	}
	l.say("  Olga approves: it is done.")

	l.say("\nVera asks the guide, which only reads, to change a document:")
	g, err := authz.NewSession(scope, "guide", authz.For(vera))
	if err != nil {
		return err
	}
	l.call(ctx, g, "edit_document", `{"path": "/history/rome/fall-of-rome", "text": "Rome never fell."}`)

	l.say("\nOlga takes the advance approval back, and the archivist has to ask again:")
	l.tables.revoke("archivist")
	l.call(ctx, s, "edit_document", `{"path": "/history/rome/fall-of-rome", "text": "Rome fell quickly."}`)
	return nil
}

func (l *library) call(ctx context.Context, s authz.Session, name, arguments string) chattools.Answer {
	l.now = l.now.Add(3 * time.Second)
	a := l.gate.Call(ctx, s, chattools.Call{Name: name, Arguments: json.RawMessage(arguments)})
	l.say("  %s %s\n      %s %s%s", name, arguments, a.Status, a.Text, a.Result)
	return a
}

// audit prints the one trail.
func (l *library) audit(ctx context.Context) error {
	records, err := l.book.Audit(ctx, ledger.AuditQuery{Scope: scope})
	if err != nil {
		return err
	}
	l.say("\nThe audit trail:")
	for _, r := range records {
		by := ""
		if r.Operator != "" {
			by = " approved by " + string(r.Operator)
		}
		if r.Grant != "" {
			by += " in advance"
		}
		l.say("  %s %-9s %-16s %-14s %s%s", r.At.Format("15:04:05"), r.Event, r.Action, r.Code, r.Session, by)
	}
	return nil
}
