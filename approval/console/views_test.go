package console_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

type page struct {
	Proposals []opened
	Next      string
	Window    int
}

func ids(list []opened) (out []string) {
	for _, o := range list {
		out = append(out, o.ID)
	}
	return out
}

// Pages hold every proposal once, newest first, and nobody's pages have what they may not see.
func TestProposalsPageByPage(t *testing.T) {
	s := open(t, nil)
	var all []string
	for i := range 120 {
		s.pass(time.Second)
		all = append([]string{s.propose("refund", "a1", i+1)}, all...)
	}
	walk := func(as, query string) (got []string) {
		t.Helper()
		next := ""
		for {
			var p page
			s.do(as, "GET", "/proposals?"+query+"&before="+next, nil, 200, &p)
			require.LessOrEqual(t, len(p.Proposals), 50)
			got = append(got, ids(p.Proposals)...)
			if next = p.Next; next == "" {
				return got
			}
		}
	}
	require.Equal(t, all, walk("olga", "")) // who oversees
	require.Equal(t, all, walk("sam", ""))  // who may decide
	require.Equal(t, all, walk("ann", ""))  // who asked
	require.Empty(t, walk("bob", ""))
	require.Equal(t, all, walk("sam", "mine=true"))
	require.Empty(t, walk("ann", "mine=true"))
	require.Equal(t, all, walk("olga", "actor=assistant&principal=ann&action=refund"))
	require.Empty(t, walk("olga", "action=pay"))
	require.Empty(t, walk("olga", "run=r1"))
	require.Equal(t, all[:20], walk("olga", "since=2026-03-02T09:01:41Z"))

	var p page
	s.do("olga", "GET", `/proposals?text=%22cents%22:120`, nil, 200, &p)
	require.Equal(t, all[:1], ids(p.Proposals))
	require.Equal(t, 10_000, p.Window, "a search says how far it looked")
}

// An opened proposal has what a decision needs: the author's sentence, exact parameters, what would change,
// what came before, what happened, and who may decide.
func TestAnOpenedProposal(t *testing.T) {
	s := open(t, nil)
	first := s.propose("refund", "a1", 1)
	s.approve("sam", first)
	s.pass(time.Second)
	id := s.propose("refund", "a1", 99)
	o := s.open("sam", id)
	require.Equal(t, `Pay 99 cents for "a1".`, o.Sentence)
	require.Equal(t, `{"cents":99,"order":"a1"}`, string(o.Params))
	require.Equal(t, "99", o.Preview[0].After)
	require.True(t, o.MayApprove)
	require.Len(t, o.Last, 1)
	require.Equal(t, first, o.Last[0].ID)
	require.Equal(t, "proposed", o.Trail[0].Event)
	require.Empty(t, o.Deciders, "sam does not oversee the scope")
	require.Equal(t, []string{"olga", "sam", "sue"}, s.open("olga", id).Deciders)

	// What went wrong in a run is for operators; whoever asked reads what is public.
	s.run = func(context.Context, refund) (any, error) { return nil, errors.New("password of the database") }
	p := s.refused("sam", "POST", "/proposals/"+id+"/approve", o.approval(), 500, "failed")
	require.NotContains(t, p.Detail, "password")
	require.Contains(t, s.open("sam", id).Error, "password")
	require.NotContains(t, s.do("ann", "GET", "/proposals/"+id, nil, 200).Body.String(), "password")

	s.run = func(context.Context, refund) (any, error) {
		return nil, registry.Public(errors.New("the card has expired"))
	}
	id = s.propose("refund", "a1", 98)
	p = s.refused("sam", "POST", "/proposals/"+id+"/approve", s.open("sam", id).approval(), 500, "failed")
	require.Equal(t, "the card has expired", p.Detail)
	require.Equal(t, "the card has expired", s.open("ann", id).Error)
}

// A revision is a new proposal, with the reviser's token; faults in its parameters are named.
func TestRevise(t *testing.T) {
	s := open(t, nil)
	id := s.propose("refund", "a1", 99)
	p := s.refused("sam", "POST", "/proposals/"+id+"/revise", `{"params":{"order":"a1","cents":0}}`, 422, "invalid")
	require.Len(t, p.Faults, 1)
	require.Contains(t, p.Faults[0], "cents")
	var r struct {
		Proposal, Token string
		ParamsHash      string `json:"params_hash"`
	}
	s.do("sam", "POST", "/proposals/"+id+"/revise", `{"params":{"order":"a1","cents":5}}`, 201, &r)
	require.Equal(t, "dismissed", s.open("sam", id).State)
	s.do("sam", "POST", "/proposals/"+r.Proposal+"/approve", map[string]string{"token": r.Token, "shown": r.ParamsHash}, 200)
}

// The matrix says what holds and why, beside what is assigned.
func TestMatrix(t *testing.T) {
	s := open(t, nil)
	cell := func(tool, model string) (c struct {
		Model, Reason, Grant string
		Available, Waits     bool
		Why                  []struct{ Rule string }
		Standing             []struct {
			ID    string
			Ended bool
		}
	}) {
		t.Helper()
		var m struct {
			Tools []struct {
				Name   string
				Models []json.RawMessage
			}
		}
		s.do("olga", "GET", "/grants", nil, 200, &m)
		for _, x := range m.Tools {
			for _, raw := range x.Models {
				if x.Name == tool && strings.Contains(string(raw), `"model":"`+model+`"`) {
					require.NoError(t, json.Unmarshal(raw, &c))
					return c
				}
			}
		}
		require.Fail(t, "no such cell")
		return c
	}
	change := func(action, params string) { s.do("olga", "POST", "/actions/"+action+"/invoke", params, 200) }

	c := cell("label", "assistant")
	require.True(t, c.Available && c.Waits && c.Grant == "none")
	change("directory_give_standing", `{"model":"assistant","tool":"label","hours":1,"uses":3,"below":"/","ask_only":false}`)
	c = cell("label", "assistant")
	require.True(t, c.Available && !c.Waits)
	require.Len(t, c.Standing, 1)
	s.pass(2 * time.Hour)
	c = cell("label", "assistant")
	require.True(t, c.Waits && c.Standing[0].Ended)
	change("directory_set_grant", `{"model":"assistant","tool":"label","effect":"deny"}`)
	c = cell("label", "assistant")
	require.False(t, c.Available)
	require.Equal(t, "deny", c.Grant)
	require.Equal(t, "deny_grant", c.Reason)
	require.Contains(t, c.Why[0].Rule, "grant denies")
	change("directory_set_grant", `{"model":"assistant","tool":"label","effect":"allow"}`)
	change("directory_set_ceiling", `{"ceiling":"read"}`)
	c = cell("label", "assistant")
	require.Equal(t, "allow", c.Grant, "what is assigned")
	require.Equal(t, "above_ceiling", c.Reason, "and what holds all the same")
	require.Equal(t, "grant_missing", cell("directory_list", "boss").Reason)
	var set struct {
		Ceiling  string
		Disabled []string
	}
	change("directory_disable_tool", `{"tool":"find","disabled":true}`)
	s.do("olga", "GET", "/settings", nil, 200, &set)
	require.Equal(t, "read", set.Ceiling)
	require.Equal(t, []string{"find"}, set.Disabled)
	require.Equal(t, "disabled", cell("find", "assistant").Reason)
}

// Models come with when they were last heard of.
func TestModels(t *testing.T) {
	s := open(t, nil)
	s.pass(time.Hour)
	s.propose("refund", "a1", 1)
	at := s.reg.Load().Now()
	s.pass(time.Hour)
	var m struct {
		Models []struct {
			ID   string
			Last *time.Time `json:"last_activity"`
		}
	}
	s.do("olga", "GET", "/models", nil, 200, &m)
	require.Len(t, m.Models, 2, "people are no models")
	require.Equal(t, "assistant", m.Models[0].ID)
	require.True(t, at.Equal(*m.Models[0].Last))
	require.Nil(t, m.Models[1].Last)
}

// Outcomes count what became of everything.
func TestOutcomes(t *testing.T) {
	s := open(t, nil)
	s.do("olga", "POST", "/actions/directory_set_roles/invoke", `{"id":"ann","roles":["staff"]}`, 200)
	s.approve("sam", s.propose("refund", "a1", 1))
	s.approve("sam", s.propose("pay", "a1", 1))
	s.do("sam", "POST", "/proposals/"+s.propose("refund", "a1", 2)+"/dismiss", `{"reason":"no"}`, 204)
	s.propose("refund", "a1", 3)
	s.pass(time.Hour)
	s.propose("refund", "a1", 4)
	var o struct {
		Window  int
		Actions []map[string]any
		Total   struct {
			Proposed, Expired, Dismissed, Executed, Succeeded int
			Waited                                            []int
		}
	}
	s.do("olga", "GET", "/outcomes", nil, 200, &o)
	require.Len(t, o.Actions, 2)
	require.Equal(t, 1, o.Total.Proposed)
	require.Equal(t, 1, o.Total.Expired)
	require.Equal(t, 1, o.Total.Dismissed)
	require.Equal(t, 2, o.Total.Succeeded)
	require.Equal(t, 3, o.Total.Waited[0], "decided in under two seconds")
}

// The trail is searched, goes on page by page, and its exports are whole, exact and harmless to a spreadsheet.
func TestAuditAndExports(t *testing.T) {
	s := open(t, nil)
	hostile := []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "|calc", "\"=1", "a,b\n\"c\""}
	for i, text := range hostile {
		s.do("sam", "POST", "/proposals/"+s.propose("refund", "a1", i+1)+"/dismiss", map[string]string{"reason": text}, 204)
	}
	s.pass(2 * time.Minute)

	var a struct {
		Records []struct {
			Seq          int64
			Event, Error string
		}
		Next   int64
		Window int
	}
	s.do("olga", "GET", "/audit?event=dismissed&operator=sam", nil, 200, &a)
	require.Len(t, a.Records, len(hostile))
	require.Equal(t, 10_000, a.Window)
	for i := range 60 {
		s.propose("refund", "a1", i+1000)
	}
	seen, before := 0, int64(1<<60)
	for query := ""; ; query = "?before=" + itoa(int(a.Next)) {
		a.Next = 0
		s.do("olga", "GET", "/audit"+query, nil, 200, &a)
		for _, r := range a.Records {
			require.Less(t, r.Seq, before)
			before = r.Seq
			seen++
		}
		if a.Next == 0 {
			break
		}
	}
	all, err := s.book.Audit(t.Context(), ledger.AuditQuery{Scope: scope, Limit: 1 << 20})
	require.NoError(t, err)
	require.Len(t, all, seen)
	s.pass(2 * time.Minute)

	// CSV: a cell never begins as a formula does, and says what it says otherwise.
	w := s.do("olga", "GET", "/audit.csv?event=dismissed", nil, 200)
	require.Contains(t, w.Header().Get("Content-Disposition"), "attachment")
	rows, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, len(hostile)+2)
	column := -1
	for i, name := range rows[0] {
		if name == "error" {
			column = i
		}
	}
	for i, text := range hostile {
		cell := rows[i+1][column]
		text = strings.NewReplacer("\t=", "\t'=", "\r=", "\r'=", "\n=", "\n'=").Replace(text)
		want := "'" + strings.ReplaceAll(text, "\r", "\n") // a reader of CSV takes \r\n for \n only, but writes none
		if text[0] == '"' || text[0] == 'a' {
			want = text
		}
		require.Equal(t, strings.ReplaceAll(want, "\n", ""), strings.NewReplacer("\r", "", "\n", "").Replace(cell))
		require.NotContains(t, "=+-@\t\r\n|", cell[:1])
	}
	require.Equal(t, fmt.Sprintf("end: %d records, complete", len(hostile)), rows[len(rows)-1][0])

	// NDJSON: exact, and whole.
	lines := strings.Split(strings.TrimSpace(s.do("olga", "GET", "/audit.ndjson?event=dismissed", nil, 200).Body.String()), "\n")
	require.Len(t, lines, len(hostile)+1)
	o, err := loadDocument()
	require.NoError(t, err)
	for i, text := range hostile {
		var r struct{ Error string }
		require.NoError(t, json.Unmarshal([]byte(lines[i]), &r))
		require.Equal(t, text, r.Error)
		valid(t, o, "/components/schemas/Record", lines[i])
	}
	require.JSONEq(t, fmt.Sprintf(`{"end":true,"records":%d,"whole":true}`, len(hostile)), lines[len(hostile)])
	require.Equal(t, "audit_export", s.latest().Action, "an export is on record")

	// What may not be committed yet is left to the next export, whatever end is asked for.
	late := s.propose("refund", "a1", 5000)
	for _, query := range []string{"", "?until=2030-01-01T00:00:00Z"} {
		require.NotContains(t, s.do("olga", "GET", "/audit.ndjson"+query, nil, 200).Body.String(), late)
	}
	s.pass(2 * time.Minute)
	require.Contains(t, s.do("olga", "GET", "/audit.ndjson", nil, 200).Body.String(), late)
}

// failing is a ledger of which the second page of an audit cannot be read.
type failing struct {
	ledger.Store
	after int64
}

func (f *failing) Audit(ctx context.Context, q ledger.AuditQuery) ([]ledger.Record, error) {
	if f.after > 0 && q.After >= f.after {
		return nil, errors.New("the disk is gone")
	}
	return f.Store.Audit(ctx, q)
}

// An export that breaks off says so in its last line, since a response cannot take its status back.
func TestAnExportThatBreaksOff(t *testing.T) {
	book := &failing{Store: new(ledger.Memory)}
	s := openOn(t, book, nil)
	for i := range 1001 {
		s.propose("refund", "a1", i+1)
	}
	s.pass(2 * time.Minute)
	book.after = 1
	body := s.do("olga", "GET", "/audit.csv", nil, 200).Body.String()
	require.Contains(t, body, "NOT complete")
	require.Contains(t, s.do("olga", "GET", "/audit.ndjson", nil, 200).Body.String(), `"whole":false`)
	book.after = 0
	s.refused("olga", "GET", "/audit.ndjson?since=x", nil, 400, "malformed")
}

// A name that is not UTF-8, as a host may take one from elsewhere, breaks off no view and no export.
func TestNamesThatAreNotUTF8(t *testing.T) {
	s := open(t, nil)
	session, err := authz.NewSession(scope, "assistant", authz.For(authz.LoggedIn("ann")))
	require.NoError(t, err)
	session = session.WithRun("run\xff").WithOrigin("origin\xff").WithConversation("talk\xff")
	a := s.gate.Load().Call(t.Context(), session, chattools.Call{Name: "refund", Arguments: []byte(`{"order":"a1","cents":3}`)})
	require.Equal(t, chattools.NeedsApproval, a.Status)
	id := s.propose("refund", "a1", 4)
	s.pass(2 * time.Minute)
	for _, path := range []string{"/proposals", "/proposals/" + a.Proposal, "/audit", "/audit.csv", "/audit.ndjson"} {
		body := s.do("olga", "GET", path, nil, 200).Body.String()
		want := "run\uFFFD"
		if path == "/audit.csv" {
			want = `run\xff` // where what cannot be seen is escaped
		}
		require.Contains(t, body, want, path)
		require.True(t, utf8.ValidString(body), path)
	}
	lines := strings.Split(strings.TrimSpace(s.do("olga", "GET", "/audit.ndjson", nil, 200).Body.String()), "\n")
	require.Contains(t, lines[len(lines)-1], `"whole":true`)
	require.Contains(t, strings.Join(lines, ""), id)
}

// Where more waits than is looked at, the number of what waits says so.
func TestManyWait(t *testing.T) {
	s := open(t, nil)
	for i := range 499 {
		s.propose("refund", "a1", i+1)
	}
	count := func(path string) string {
		t.Helper()
		body := s.do("sam", "GET", "page:"+path, nil, 200).Body.String()
		_, rest, ok := strings.Cut(body, `for you: </span>`)
		require.True(t, ok)
		number, _, _ := strings.Cut(rest, "<")
		return number
	}
	require.Equal(t, "499", count("/"))
	for i := range 2 {
		s.propose("refund", "a1", i+1000)
	}
	require.Equal(t, "500+", count("/"))
	require.Equal(t, "500+", count("/ledger"))
}
