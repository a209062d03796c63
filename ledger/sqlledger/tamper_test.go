package sqlledger_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// q puts the prefix and the placeholders of the dialect into a statement that a test writes by hand.
func (s *store) q(query string) string {
	query = strings.NewReplacer("{", s.prefix, "}", "").Replace(query)
	if strings.Contains(s.dialect.String(), "postgres") {
		return sqlx.Rebind(sqlx.DOLLAR, query)
	}
	return query
}

func (s *store) exec(query string, args ...any) (sql.Result, error) {
	return s.db.ExecContext(context.Background(), s.q(query), args...)
}

// Tamper implements [ledgertest.Tamperer] in SQL, as somebody with access to the database would.
func (s *store) Tamper(scope authz.Scope, id string, change func(*ledger.Proposal)) error {
	p, err := s.Proposal(context.Background(), scope, id)
	if err != nil {
		return err
	}
	change(&p)
	array := func(list []string) string {
		if len(list) == 0 {
			return ""
		}
		text, _ := json.Marshal(list)
		return string(text)
	}
	var targets, revisers, via []string
	for _, t := range p.Targets {
		targets = append(targets, t.String())
	}
	for _, r := range p.RevisedBy {
		revisers = append(revisers, string(r))
	}
	number := func(f *float64) any {
		if f == nil {
			return nil
		}
		return strconv.FormatFloat(*f, 'g', -1, 64)
	}
	us := func(t time.Time) int64 { return ledger.Time(t).UnixMicro() }
	d := p.Session.Stored()
	for _, v := range d.Via {
		via = append(via, string(v))
	}
	tools, background := "", 0
	if d.Restricted {
		text, _ := json.Marshal(append([]string{}, d.Tools...))
		tools = string(text)
	}
	if d.Background {
		background = 1
	}
	_, err = s.exec(`UPDATE {proposals} SET scope = ?, actor = ?, kind = ?, principal = ?, background = ?, via = ?, tools = ?, run = ?, origin = ?,
		conversation = ?, id = ?, action = ?, params = ?, targets = ?, definition = ?, version = ?, created_at = ?, expires_at = ?,
		supersedes = ?, revised_by = ?, seal = ?, decision = ?, decided_by = ?, decided_at = ?, note = ?, claim = ?, grant_id = ?,
		run_by = ?, outcome = ?, finished_at = ?, result = ?, error = ?, told = ?, baseline = ?, unmeasured = ?, verify_at = ?, verdict = ?,
		measured = ?, verified_at = ? WHERE scope = ? AND id = ?`,
		string(d.Scope), string(d.Actor), d.Kind.String(), string(d.Principal), background, array(via), tools, d.Run, d.Origin,
		d.Conversation, p.ID, p.Action, p.Params.String(), array(targets), p.Definition, p.Version, us(p.CreatedAt), us(p.ExpiresAt),
		p.Supersedes, array(revisers), p.Seal, string(p.Decision), string(p.DecidedBy), us(p.DecidedAt), p.Note, p.Claim, p.Grant,
		us(p.RunBy), string(p.Outcome), us(p.FinishedAt), string(p.Result), p.Error, p.Told, number(p.Baseline), p.Unmeasured, us(p.VerifyAt), string(p.Verdict),
		number(p.Measured), us(p.VerifiedAt), string(scope), id)
	return err
}
