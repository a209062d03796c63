package office

import (
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Row is a proposal as a list shows it. Title, sentence, risk, reach and undo are the words of the action's
// author; everything else may come from a model, and is for a surface to show as such.
type Row struct {
	ID           string         `json:"id"`
	State        ledger.State   `json:"state"`
	Outcome      ledger.Outcome `json:"outcome,omitzero"`
	Verdict      ledger.Verdict `json:"verdict,omitzero"`
	Action       string         `json:"action"`
	Title        string         `json:"title,omitzero"`
	Sentence     string         `json:"sentence,omitzero"`
	Risk         registry.Risk  `json:"risk,omitzero"`
	Reach        string         `json:"reach,omitzero"`
	Undo         string         `json:"undo,omitzero"`
	Actor        authz.ID       `json:"actor"`
	Via          []authz.ID     `json:"via,omitempty"`
	Principal    authz.ID       `json:"principal,omitzero"`
	Background   bool           `json:"background,omitzero"` // the model works for nobody
	Run          string         `json:"run,omitzero"`
	Origin       string         `json:"origin,omitzero"`
	Conversation string         `json:"conversation,omitzero"`
	Targets      []authz.Path   `json:"targets"`
	Params       jsontext.Value `json:"params"` // canonical
	ParamsHash   string         `json:"params_hash"`
	CreatedAt    time.Time      `json:"created_at"`
	ExpiresAt    time.Time      `json:"expires_at"`
	DecidedBy    authz.ID       `json:"decided_by,omitzero"`
	DecidedAt    time.Time      `json:"decided_at,omitzero"`
	Grant        string         `json:"grant,omitzero"` // standing grant that decided
	Note         string         `json:"note,omitzero"`  // why it was dismissed
	FinishedAt   time.Time      `json:"finished_at,omitzero"`
	Error        string         `json:"error,omitzero"`      // of a failed run: the whole text for operators, else what is public
	Unmeasured   string         `json:"unmeasured,omitzero"` // why there is nothing to compare
	Baseline     *float64       `json:"baseline,omitempty"`
	Measured     *float64       `json:"measured,omitempty"`
	VerifyAt     time.Time      `json:"verify_at,omitzero"`
	VerifiedAt   time.Time      `json:"verified_at,omitzero"`
	Supersedes   string         `json:"supersedes,omitzero"`
	RevisedBy    []authz.ID     `json:"revised_by,omitempty"`
	MayApprove   bool           `json:"may_approve"` // as far as rights say; opening it asks everything
	MayDismiss   bool           `json:"may_dismiss"`

	Proposal ledger.Proposal `json:"-"` // for display forms
}

func rowOf(g registry.Glance, at time.Time) Row {
	p, s := g.Proposal, g.Proposal.Session
	principal, _ := s.Principal()
	r := Row{
		ID: p.ID, State: p.State(at), Outcome: p.Outcome, Verdict: p.Verdict, Action: p.Action,
		Title: g.Card.Title, Sentence: g.Card.Sentence, Risk: g.Card.Risk, Reach: g.Card.Reach, Undo: g.Card.Undo,
		Actor: s.Actor(), Via: s.Via(), Principal: principal, Background: s.Background(),
		Run: s.Run(), Origin: s.Origin(), Conversation: s.Conversation(), Targets: append([]authz.Path{}, p.Targets...),
		Params: jsontext.Value(p.Params.String()), ParamsHash: p.Params.Hash().String(),
		CreatedAt: p.CreatedAt, ExpiresAt: p.ExpiresAt, DecidedBy: p.DecidedBy, DecidedAt: p.DecidedAt, Grant: p.Grant, Note: p.Note,
		FinishedAt: p.FinishedAt, Error: p.Error, Unmeasured: p.Unmeasured, Baseline: p.Baseline, Measured: p.Measured,
		VerifyAt: p.VerifyAt, VerifiedAt: p.VerifiedAt, Supersedes: p.Supersedes, RevisedBy: p.RevisedBy,
		MayDismiss: g.Dismiss, Proposal: p,
	}
	r.MayApprove = g.Decides && r.State == ledger.StateProposed
	if !g.Operates {
		r.Error = p.Told
	}
	return r
}

func rowsOf(list []registry.Glance, at time.Time) []Row {
	rows := make([]Row, len(list))
	for i := range list {
		rows[i] = rowOf(list[i], at)
	}
	return rows
}

// cursorText is a place in a list for an address or a body; the start is "".
func cursorText(c ledger.Cursor) string {
	if c.ID == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(c.CreatedAt.UTC().Format(time.RFC3339Nano) + " " + c.ID))
}

// ErrCursor says that the text is no place in a list.
var ErrCursor = errors.New("office: not a cursor")

// ParseCursor reads a cursor that a view gave.
func ParseCursor(text string) (ledger.Cursor, error) {
	if text == "" {
		return ledger.Cursor{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return ledger.Cursor{}, ErrCursor
	}
	at, id, ok := strings.Cut(string(raw), " ")
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil || !ok || id == "" || len(id) > 64 {
		return ledger.Cursor{}, ErrCursor
	}
	return ledger.Cursor{CreatedAt: t, ID: id}, nil
}
