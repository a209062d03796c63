package sqlledger

import (
	"database/sql"
	"fmt"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/internal/sqlkit"
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

func encodeSession(e *sqlkit.Encoder, s authz.Session) sessionRow {
	d := s.Stored()
	row := sessionRow{
		Scope: e.Short("the scope", string(d.Scope)), Actor: e.Short("the actor", string(d.Actor)),
		Principal: e.Short("the principal", string(d.Principal)), Via: sqlkit.EncodeList(e, "via", d.Via),
		Run: e.Short("the run", d.Run), Origin: e.Short("the origin", d.Origin),
		Conversation: e.Short("the conversation", d.Conversation),
	}
	if !s.IsZero() {
		row.Kind = d.Kind.String()
	}
	if d.Background {
		row.Background = 1
	}
	if d.Restricted && !s.IsZero() {
		row.Tools = sqlkit.EncodeArray(e, "the allowlist", d.Tools)
	}
	return row
}

func (r *sessionRow) args() []any {
	return []any{r.Scope, r.Actor, r.Kind, r.Principal, r.Background, r.Via, r.Tools, r.Run, r.Origin, r.Conversation}
}

func (r *sessionRow) decode(d *sqlkit.Decoder) authz.Session {
	if *r == (sessionRow{}) {
		return authz.Session{} // of a record that nobody's session is in
	}
	stored := authz.StoredSession{
		Scope: authz.Scope(d.Text("scope", r.Scope)), Actor: authz.ID(d.Text("actor", r.Actor)),
		Principal: authz.ID(d.Text("principal", r.Principal)), Background: r.Background == 1,
		Via: sqlkit.DecodeList[authz.ID](d, "via", r.Via), Restricted: r.Tools != "",
		Tools: sqlkit.DecodeList[string](d, "tools", r.Tools), Run: d.Text("run", r.Run),
		Origin: d.Text("origin", r.Origin), Conversation: d.Text("conversation", r.Conversation),
	}
	d.Fail("kind", stored.Kind.UnmarshalText([]byte(r.Kind)))
	if r.Background != 0 && r.Background != 1 {
		d.Fail("background", fmt.Errorf("%d is neither 0 nor 1", r.Background))
	}
	s, err := stored.Session()
	d.Fail("actor", err)
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
func encodeProposal(e *sqlkit.Encoder, p *ledger.Proposal) *proposalRow {
	return &proposalRow{
		sessionRow: encodeSession(e, p.Session),
		ID:         e.Short("the id", p.ID), Action: e.Short("the action", p.Action), Params: e.Long("the parameters", p.Params.String()),
		Targets: encodePaths(e, p.Targets), Definition: e.Short("the definition", p.Definition), Version: e.Short("the version", p.Version),
		CreatedAt: sqlkit.Micros(p.CreatedAt), ExpiresAt: sqlkit.Micros(p.ExpiresAt), Supersedes: e.Short("the predecessor", p.Supersedes),
		RevisedBy: sqlkit.EncodeList(e, "the revisers", p.RevisedBy), Seal: e.Short("the seal", p.Seal),
		DecidedAt: sqlkit.Never, RunBy: sqlkit.Never, FinishedAt: sqlkit.Never, VerifyAt: sqlkit.Never, VerifiedAt: sqlkit.Never,
	}
}

// immutable are the parameters of immutableColumns.
func (r *proposalRow) immutable() []any {
	return append(r.args(), r.ID, r.Action, r.Params, r.Targets, r.Definition, r.Version, r.CreatedAt, r.ExpiresAt, r.Supersedes, r.RevisedBy, r.Seal)
}

// decode restores a proposal. The error is [ledger.ErrTampered] and names the row.
func (r *proposalRow) decode() (ledger.Proposal, error) {
	d := new(sqlkit.Decoder)
	p := ledger.Proposal{
		ID: d.Text("id", r.ID), Session: r.sessionRow.decode(d), Action: d.Text("action", r.Action),
		Params: decodeParams(d, r.Params), Targets: decodePaths(d, r.Targets),
		Definition: d.Text("definition", r.Definition), Version: d.Text("version", r.Version),
		CreatedAt: sqlkit.Instant(r.CreatedAt), ExpiresAt: sqlkit.Instant(r.ExpiresAt), Supersedes: d.Text("supersedes", r.Supersedes),
		RevisedBy: sqlkit.DecodeList[authz.ID](d, "revised_by", r.RevisedBy), Seal: d.Text("seal", r.Seal),

		Decision: ledger.Decision(d.Text("decision", r.Decision)), DecidedBy: authz.ID(d.Text("decided_by", r.DecidedBy)),
		DecidedAt: sqlkit.Instant(r.DecidedAt), Note: d.Text("note", r.Note), Claim: d.Text("claim", r.Claim),
		Grant: d.Text("grant_id", r.Grant), RunBy: sqlkit.Instant(r.RunBy), Outcome: ledger.Outcome(d.Text("outcome", r.Outcome)),
		FinishedAt: sqlkit.Instant(r.FinishedAt), Result: d.Bytes("result", r.Result), Error: d.Text("error", r.Error),
		Told: d.Text("told", r.Told), Baseline: d.Number("baseline", r.Baseline), Unmeasured: d.Text("unmeasured", r.Unmeasured),
		VerifyAt: sqlkit.Instant(r.VerifyAt), Verdict: ledger.Verdict(d.Text("verdict", r.Verdict)),
		Measured: d.Number("measured", r.Measured), VerifiedAt: sqlkit.Instant(r.VerifiedAt),
	}
	if p.Session.IsZero() && d.Err == nil {
		d.Fail("actor", authz.ErrSession)
	}
	if d.Err != nil {
		return ledger.Proposal{}, fmt.Errorf("sqlledger: proposal %q of scope %q: %w: %w", r.ID, r.Scope, ledger.ErrTampered, d.Err)
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

func encodeRecord(e *sqlkit.Encoder, r *ledger.Record) *recordRow {
	return &recordRow{
		sessionRow: encodeSession(e, r.Session),
		At:         sqlkit.Micros(r.At), Event: e.Short("the event", string(r.Event)), Code: e.Short("the code", string(r.Code)),
		Reason: e.Short("the reason", r.Reason), Operator: e.Short("the operator", string(r.Operator)),
		Action: e.Short("the action", r.Action), Targets: encodePaths(e, r.Targets), Params: e.Long("the parameters", r.Params.String()),
		Proposal: e.Short("the proposal", r.Proposal), Claim: e.Short("the claim", r.Claim), Grant: e.Short("the grant", r.Grant),
		Result: e.Long("the result", string(r.Result)), Error: e.Long("the error", r.Error), Times: int64(r.Count),
	}
}

// values are the parameters of recordColumns.
func (r *recordRow) values() []any {
	return append(r.args(), r.At, r.Event, r.Code, r.Reason, r.Operator, r.Action, r.Targets, r.Params, r.Proposal, r.Claim, r.Grant, r.Result, r.Error, r.Times)
}

func (r *recordRow) decode() (ledger.Record, error) {
	d := new(sqlkit.Decoder)
	rec := ledger.Record{
		Seq: r.Seq, At: sqlkit.Instant(r.At), Event: ledger.Event(d.Text("event", r.Event)), Code: ledger.Code(d.Text("code", r.Code)),
		Reason: d.Text("reason", r.Reason), Session: r.sessionRow.decode(d), Operator: authz.ID(d.Text("operator", r.Operator)),
		Action: d.Text("action", r.Action), Targets: decodePaths(d, r.Targets), Params: decodeParams(d, r.Params),
		Proposal: d.Text("proposal", r.Proposal), Claim: d.Text("claim", r.Claim), Grant: d.Text("grant_id", r.Grant),
		Result: d.Bytes("result", r.Result), Error: d.Text("error", r.Error), Count: int(r.Times),
	}
	if d.Err != nil {
		return ledger.Record{}, fmt.Errorf("sqlledger: record %d of scope %q: %w: %w", r.Seq, r.Scope, ledger.ErrTampered, d.Err)
	}
	return rec, nil
}

func decodeParams(d *sqlkit.Decoder, text string) canon.Object {
	if text == "" {
		return canon.Object{}
	}
	o, err := canon.Stored(text)
	d.Fail("params", err)
	return o
}

func encodePaths(e *sqlkit.Encoder, paths []authz.Path) string {
	texts := make([]string, len(paths))
	for i, p := range paths {
		texts[i] = p.String()
	}
	return sqlkit.EncodeList(e, "the targets", texts)
}

func decodePaths(d *sqlkit.Decoder, text string) []authz.Path {
	var paths []authz.Path
	for _, t := range sqlkit.DecodeList[string](d, "targets", text) {
		var p authz.Path
		if t != "" {
			d.Fail("targets", p.UnmarshalText([]byte(t)))
		}
		paths = append(paths, p)
	}
	return paths
}
