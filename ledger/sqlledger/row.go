package sqlledger

import (
	"database/sql"
	"fmt"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// sessionRow is a session in columns. Tools is "" for a session that may use any tool.
type sessionRow struct {
	Scope        string `db:"scope"`
	Actor        string `db:"actor"`
	Kind         string `db:"kind"`
	Principal    string `db:"principal"`
	Background   int64  `db:"background"`
	Via          string `db:"via"`
	Tools        string `db:"tools"`
	Run          string `db:"run"`
	Origin       string `db:"origin"`
	Conversation string `db:"conversation"`
}

const sessionColumns = "scope, actor, kind, principal, background, via, tools, run, origin, conversation"

func encodeSession(e *encoder, s authz.Session) sessionRow {
	d := s.Stored()
	row := sessionRow{
		Scope: e.short("the scope", string(d.Scope)), Actor: e.short("the actor", string(d.Actor)),
		Principal: e.short("the principal", string(d.Principal)), Via: encodeList(e, "via", d.Via),
		Run: e.short("the run", d.Run), Origin: e.short("the origin", d.Origin),
		Conversation: e.short("the conversation", d.Conversation),
	}
	if !s.IsZero() {
		row.Kind = d.Kind.String()
	}
	if d.Background {
		row.Background = 1
	}
	if d.Restricted && !s.IsZero() {
		row.Tools = encodeArray(e, "the allowlist", d.Tools)
	}
	return row
}

func (r *sessionRow) args() []any {
	return []any{r.Scope, r.Actor, r.Kind, r.Principal, r.Background, r.Via, r.Tools, r.Run, r.Origin, r.Conversation}
}

func (r *sessionRow) decode(d *decoder) authz.Session {
	if *r == (sessionRow{}) {
		return authz.Session{} // of a record that nobody's session is in
	}
	stored := authz.StoredSession{
		Scope: authz.Scope(d.text("scope", r.Scope)), Actor: authz.ID(d.text("actor", r.Actor)),
		Principal: authz.ID(d.text("principal", r.Principal)), Background: r.Background == 1,
		Via: decodeList[authz.ID](d, "via", r.Via), Restricted: r.Tools != "",
		Tools: decodeList[string](d, "tools", r.Tools), Run: d.text("run", r.Run),
		Origin: d.text("origin", r.Origin), Conversation: d.text("conversation", r.Conversation),
	}
	d.fail("kind", stored.Kind.UnmarshalText([]byte(r.Kind)))
	if r.Background != 0 && r.Background != 1 {
		d.fail("background", fmt.Errorf("%d is neither 0 nor 1", r.Background))
	}
	s, err := stored.Session()
	d.fail("actor", err)
	return s
}

// proposalRow is a proposal in columns.
type proposalRow struct {
	sessionRow
	ID         string `db:"id"`
	Action     string `db:"action"`
	Params     string `db:"params"`
	Targets    string `db:"targets"`
	Definition string `db:"definition"`
	Version    string `db:"version"`
	CreatedAt  int64  `db:"created_at"`
	ExpiresAt  int64  `db:"expires_at"`
	Supersedes string `db:"supersedes"`
	RevisedBy  string `db:"revised_by"`
	Seal       string `db:"seal"`

	Decision   string         `db:"decision"`
	DecidedBy  string         `db:"decided_by"`
	DecidedAt  int64          `db:"decided_at"`
	Note       string         `db:"note"`
	Claim      string         `db:"claim"`
	Grant      string         `db:"grant_id"`
	RunBy      int64          `db:"run_by"`
	Outcome    string         `db:"outcome"`
	FinishedAt int64          `db:"finished_at"`
	Result     string         `db:"result"`
	Error      string         `db:"error"`
	Told       string         `db:"told"`
	Baseline   sql.NullString `db:"baseline"`
	Unmeasured string         `db:"unmeasured"`
	VerifyAt   int64          `db:"verify_at"`
	Verdict    string         `db:"verdict"`
	Measured   sql.NullString `db:"measured"`
	VerifiedAt int64          `db:"verified_at"`
}

const (
	immutableColumns = sessionColumns + ", id, action, params, targets, definition, version, created_at, expires_at, supersedes, revised_by, seal"
	mutableColumns   = "decision, decided_by, decided_at, note, claim, grant_id, run_by, outcome, finished_at, result, error, told, " +
		"baseline, unmeasured, verify_at, verdict, measured, verified_at"
	proposalColumns = immutableColumns + ", " + mutableColumns
)

// encodeProposal takes the immutable fields only.
func encodeProposal(e *encoder, p *ledger.Proposal) *proposalRow {
	return &proposalRow{
		sessionRow: encodeSession(e, p.Session),
		ID:         e.short("the id", p.ID), Action: e.short("the action", p.Action), Params: e.long("the parameters", p.Params.String()),
		Targets: encodePaths(e, p.Targets), Definition: e.short("the definition", p.Definition), Version: e.short("the version", p.Version),
		CreatedAt: micros(p.CreatedAt), ExpiresAt: micros(p.ExpiresAt), Supersedes: e.short("the predecessor", p.Supersedes),
		RevisedBy: encodeList(e, "the revisers", p.RevisedBy), Seal: e.short("the seal", p.Seal),
		DecidedAt: never, RunBy: never, FinishedAt: never, VerifyAt: never, VerifiedAt: never,
	}
}

// immutable are the parameters of immutableColumns.
func (r *proposalRow) immutable() []any {
	return append(r.args(), r.ID, r.Action, r.Params, r.Targets, r.Definition, r.Version, r.CreatedAt, r.ExpiresAt, r.Supersedes, r.RevisedBy, r.Seal)
}

// decode restores a proposal. The error is [ledger.ErrTampered] and names the row.
func (r *proposalRow) decode() (ledger.Proposal, error) {
	d := new(decoder)
	p := ledger.Proposal{
		ID: d.text("id", r.ID), Session: r.sessionRow.decode(d), Action: d.text("action", r.Action),
		Params: decodeParams(d, r.Params), Targets: decodePaths(d, r.Targets),
		Definition: d.text("definition", r.Definition), Version: d.text("version", r.Version),
		CreatedAt: instant(r.CreatedAt), ExpiresAt: instant(r.ExpiresAt), Supersedes: d.text("supersedes", r.Supersedes),
		RevisedBy: decodeList[authz.ID](d, "revised_by", r.RevisedBy), Seal: d.text("seal", r.Seal),

		Decision: ledger.Decision(d.text("decision", r.Decision)), DecidedBy: authz.ID(d.text("decided_by", r.DecidedBy)),
		DecidedAt: instant(r.DecidedAt), Note: d.text("note", r.Note), Claim: d.text("claim", r.Claim),
		Grant: d.text("grant_id", r.Grant), RunBy: instant(r.RunBy), Outcome: ledger.Outcome(d.text("outcome", r.Outcome)),
		FinishedAt: instant(r.FinishedAt), Result: d.bytes("result", r.Result), Error: d.text("error", r.Error),
		Told: d.text("told", r.Told), Baseline: d.number("baseline", r.Baseline), Unmeasured: d.text("unmeasured", r.Unmeasured),
		VerifyAt: instant(r.VerifyAt), Verdict: ledger.Verdict(d.text("verdict", r.Verdict)),
		Measured: d.number("measured", r.Measured), VerifiedAt: instant(r.VerifiedAt),
	}
	if p.Session.IsZero() && d.err == nil {
		d.fail("actor", authz.ErrSession)
	}
	if d.err != nil {
		return ledger.Proposal{}, fmt.Errorf("sqlledger: proposal %q of scope %q: %w: %w", r.ID, r.Scope, ledger.ErrTampered, d.err)
	}
	return p, nil
}

// recordRow is a record in columns, without the two that only queries know: decides and attempt.
type recordRow struct {
	sessionRow
	Seq      int64  `db:"seq"`
	At       int64  `db:"at"`
	Event    string `db:"event"`
	Code     string `db:"code"`
	Reason   string `db:"reason"`
	Operator string `db:"operator"`
	Action   string `db:"action"`
	Targets  string `db:"targets"`
	Params   string `db:"params"`
	Proposal string `db:"proposal"`
	Claim    string `db:"claim"`
	Grant    string `db:"grant_id"`
	Result   string `db:"result"`
	Error    string `db:"error"`
	Times    int64  `db:"times"`
}

const recordColumns = sessionColumns + ", at, event, code, reason, operator, action, targets, params, proposal, claim, grant_id, result, error, times"

func encodeRecord(e *encoder, r *ledger.Record) *recordRow {
	return &recordRow{
		sessionRow: encodeSession(e, r.Session),
		At:         micros(r.At), Event: e.short("the event", string(r.Event)), Code: e.short("the code", string(r.Code)),
		Reason: e.short("the reason", r.Reason), Operator: e.short("the operator", string(r.Operator)),
		Action: e.short("the action", r.Action), Targets: encodePaths(e, r.Targets), Params: e.long("the parameters", r.Params.String()),
		Proposal: e.short("the proposal", r.Proposal), Claim: e.short("the claim", r.Claim), Grant: e.short("the grant", r.Grant),
		Result: e.long("the result", string(r.Result)), Error: e.long("the error", r.Error), Times: int64(r.Count),
	}
}

// values are the parameters of recordColumns.
func (r *recordRow) values() []any {
	return append(r.args(), r.At, r.Event, r.Code, r.Reason, r.Operator, r.Action, r.Targets, r.Params, r.Proposal, r.Claim, r.Grant, r.Result, r.Error, r.Times)
}

func (r *recordRow) decode() (ledger.Record, error) {
	d := new(decoder)
	rec := ledger.Record{
		Seq: r.Seq, At: instant(r.At), Event: ledger.Event(d.text("event", r.Event)), Code: ledger.Code(d.text("code", r.Code)),
		Reason: d.text("reason", r.Reason), Session: r.sessionRow.decode(d), Operator: authz.ID(d.text("operator", r.Operator)),
		Action: d.text("action", r.Action), Targets: decodePaths(d, r.Targets), Params: decodeParams(d, r.Params),
		Proposal: d.text("proposal", r.Proposal), Claim: d.text("claim", r.Claim), Grant: d.text("grant_id", r.Grant),
		Result: d.bytes("result", r.Result), Error: d.text("error", r.Error), Count: int(r.Times),
	}
	if d.err != nil {
		return ledger.Record{}, fmt.Errorf("sqlledger: record %d of scope %q: %w: %w", r.Seq, r.Scope, ledger.ErrTampered, d.err)
	}
	return rec, nil
}

func decodeParams(d *decoder, text string) canon.Object {
	if text == "" {
		return canon.Object{}
	}
	o, err := canon.Stored(text)
	d.fail("params", err)
	return o
}

func encodePaths(e *encoder, paths []authz.Path) string {
	texts := make([]string, len(paths))
	for i, p := range paths {
		texts[i] = p.String()
	}
	return encodeList(e, "the targets", texts)
}

func decodePaths(d *decoder, text string) []authz.Path {
	var paths []authz.Path
	for _, t := range decodeList[string](d, "targets", text) {
		var p authz.Path
		if t != "" {
			d.fail("targets", p.UnmarshalText([]byte(t)))
		}
		paths = append(paths, p)
	}
	return paths
}
