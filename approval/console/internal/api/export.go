package api

import (
	"encoding/csv"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// flushEvery is after how many records an export hands on what it has.
const flushEvery = 500

// export streams the audit trail. It ends with a line that says whether it is whole, since a response that
// breaks off looks like one that ended. A HEAD gets the headers: it exports nothing, and so leaves no record.
func export(w http.ResponseWriter, r *web.Request, media, name string, line func(ledger.Record) error, last func(count int, err error) error, flush func() error) error {
	f, err := AuditFilter(r)
	if err != nil {
		return err
	}
	head := func() {
		w.Header().Set("Content-Type", media)
		w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	}
	if r.Method == http.MethodHead {
		if err := r.Visit.MayExport(r.Context()); err != nil {
			return err
		}
		head()
		return nil
	}
	records, err := r.Visit.Export(r.Context(), f)
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(records)
	defer stop()
	rec, err, more := next() // so that a ledger which cannot be read is a problem and no export
	if err != nil {
		return err
	}
	head()
	ctl := http.NewResponseController(w)
	count := 0
	for ; more && err == nil; rec, err, more = next() {
		if line(rec) != nil {
			return nil // the client has gone
		}
		if count++; count%flushEvery == 0 {
			_ = ctl.SetWriteDeadline(time.Now().Add(time.Minute)) // an export may take longer than other responses
			if flush() != nil {
				return nil
			}
			_ = ctl.Flush()
		}
	}
	if last(count, err) == nil {
		_ = flush()
	}
	return nil
}

func (a *api) auditNDJSON(w http.ResponseWriter, r *web.Request) error {
	put := func(v any) error {
		text, err := jsonv2.Marshal(v, asJSON)
		if err == nil {
			_, err = w.Write(append(text, '\n'))
		}
		return err
	}
	return export(w, r, "application/x-ndjson", "audit.ndjson",
		func(r ledger.Record) error { return put(recordOf(r)) },
		func(count int, err error) error {
			return put(struct {
				End     bool `json:"end"`
				Records int  `json:"records"`
				Whole   bool `json:"whole"`
			}{true, count, err == nil})
		}, func() error { return nil })
}

var columns = []string{
	"seq", "at", "event", "code", "reason", "actor", "kind", "via", "principal", "background", "operator", "action", "targets", "params",
	"params_hash", "proposal", "claim", "grant", "result", "error", "count", "run", "origin", "conversation",
}

func (a *api) auditCSV(w http.ResponseWriter, r *web.Request) error {
	out := csv.NewWriter(w)
	begun := false
	put := func(fields []string) error {
		if !begun {
			begun = true
			if err := out.Write(columns); err != nil {
				return err
			}
		}
		for i := range fields {
			fields[i] = neutral(fields[i])
		}
		return out.Write(fields)
	}
	return export(w, r, "text/csv; charset=utf-8", "audit.csv",
		func(rec ledger.Record) error { return put(csvFields(recordOf(rec))) },
		func(count int, err error) error {
			end := "end: " + strconv.Itoa(count) + " records, complete"
			if err != nil {
				end = "end: " + strconv.Itoa(count) + " records, NOT complete: the rest could not be read"
			}
			return put(append([]string{end}, make([]string, len(columns)-1)...))
		}, func() error { out.Flush(); return out.Error() })
}

func csvFields(r record) []string {
	return []string{
		strconv.FormatInt(r.Seq, 10), r.At.UTC().Format(time.RFC3339Nano), string(r.Event), string(r.Code), r.Reason, string(r.Actor),
		r.Kind.String(), words(r.Via), string(r.Principal), strconv.FormatBool(r.Background), string(r.Operator), r.Action,
		words(paths(r.Targets)), string(r.Params), r.ParamsHash, r.Proposal, r.Claim, r.Grant, string(r.Result), r.Error,
		strconv.Itoa(max(r.Count, 1)), r.Run, r.Origin, r.Talk,
	}
}

func paths(list []authz.Path) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return out
}

func words[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return strings.Join(out, " ")
}

// escapes undoes what a display form escapes although it can be seen in a cell.
var escapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\r`, "\r", `\t`, "\t")

// neutral makes a cell of a text: what cannot be seen is escaped as in the display form of parameters, and no
// spreadsheet takes any of it for a formula. An apostrophe comes before whatever begins as a formula does, also behind
// spaces, and also behind what a spreadsheet may take for the end of a cell: not every one takes commas. See OWASP on
// CSV injection.
func neutral(s string) string {
	s = canon.Quote(s)
	s = escapes.Replace(s[1 : len(s)-1])
	var b strings.Builder
	if s != "" && strings.ContainsRune("\t\r\n", rune(s[0])) {
		b.WriteByte('\'')
	}
	for begin := true; s != ""; {
		if begin && formula(s) {
			b.WriteByte('\'')
		}
		n := 1 + strings.IndexAny(s, ";\t\r\n")
		if begin = n > 0; !begin {
			n = len(s)
		}
		b.WriteString(s[:n])
		s = s[n:]
	}
	return b.String()
}

// formula reports whether a text begins as a formula does.
func formula(s string) bool {
	trimmed := strings.TrimLeft(s, " ")
	if trimmed == "" {
		return false
	}
	switch []rune(trimmed[:min(len(trimmed), utf8.UTFMax)])[0] {
	case '=', '+', '-', '@', '|', '%', '＝', '＋', '－', '＠':
		return true
	}
	return false
}
