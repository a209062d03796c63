package sqlledger

import "strings"

// statements are the fixed statements of a Store, with its prefix and its dialect's parameters. Lists are put
// together for each query.
type statements struct {
	claim, dismiss, finish, verify               string
	lockScope, identical, countParty, countScope string
	insertProposal, insertRecord, mine           string
	lockGrant, countUses, insertUse              string
	proposal, life, due                          string
}

// newStatements writes the statements. Every compare-and-set changes the row that it finds, so that databases
// which count matched rows and those which count changed rows agree about how many there were.
func newStatements(text func(string) string, d Dialect) statements {
	returning := ""
	if d != MySQL {
		returning = " RETURNING " + proposalColumns
	}
	lockScope := `INSERT INTO {scopes} AS s (scope, life) VALUES (?, ?)
		ON CONFLICT (scope) DO UPDATE SET life = CASE WHEN excluded.life > s.life THEN excluded.life ELSE s.life END`
	lockGrant := `INSERT INTO {grants} AS g (scope, grant_id, turns) VALUES (?, ?, 1)
		ON CONFLICT (scope, grant_id) DO UPDATE SET turns = g.turns + 1`
	if d == MySQL {
		lockScope = `INSERT INTO {scopes} (scope, life) VALUES (?, ?) ON DUPLICATE KEY UPDATE life = GREATEST(life, VALUES(life))`
		lockGrant = `INSERT INTO {grants} (scope, grant_id, turns) VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE turns = turns + 1`
	}
	return statements{
		claim: text(`UPDATE {proposals} SET decision = 'claimed', decided_by = ?, decided_at = ?, claim = ?, run_by = ?, grant_id = ?
			WHERE scope = ? AND id = ? AND decision = '' AND expires_at > ?` + returning),
		dismiss: text(`UPDATE {proposals} SET decision = 'dismissed', decided_by = ?, decided_at = ?, note = ?
			WHERE scope = ? AND id = ? AND decision = ''` + returning),
		finish: text(`UPDATE {proposals} SET outcome = ?, finished_at = ?, result = ?, error = ?, told = ?, baseline = ?,
			unmeasured = CASE WHEN verdict = '' THEN ? ELSE unmeasured END, verify_at = ?
			WHERE scope = ? AND id = ? AND decision = 'claimed' AND claim = ? AND outcome = ''`),
		verify: text(`UPDATE {proposals} SET verdict = ?, measured = ?, verified_at = ?, unmeasured = COALESCE(NULLIF(?, ''), unmeasured)
			WHERE scope = ? AND id = ? AND decision = 'claimed' AND verdict = ''`),

		lockScope: text(lockScope),
		identical: text(`SELECT ` + proposalColumns + ` FROM {proposals}` + d.by("party") + `
			WHERE party = ? AND decision = '' AND expires_at > ? AND identity = ? ORDER BY created_at, id`),
		countParty: text(`SELECT COUNT(*) AS principal, COALESCE(SUM(CASE WHEN talk = ? THEN 1 ELSE 0 END), 0) AS talks FROM {proposals}` + d.by("party") + `
			WHERE party = ? AND decision = '' AND expires_at > ?`),
		countScope: text(`SELECT COUNT(*) FROM {proposals}` + d.by("pending") + ` WHERE scope = ? AND decision = '' AND created_at > ? AND expires_at > ?`),
		insertProposal: text(`INSERT INTO {proposals} (` + immutableColumns + `, ` + mutableColumns + `, identity, party, talk)
			VALUES (` + marks(immutableColumns) + `, '', '', ?, '', '', '', ?, '', ?, '', '', '', NULL, '', ?, '', NULL, ?, ?, ?, ?)`),
		insertRecord: text(`INSERT INTO {records} (` + recordColumns + `, decides, attempt) VALUES (` + marks(recordColumns) + `, ?, ?)`),
		mine:         text(`SELECT COUNT(*) FROM {records} WHERE scope = ? AND proposal = ? AND attempt = ?`),

		lockGrant: text(lockGrant),
		countUses: text(`SELECT COALESCE(MAX(n), 0) FROM {uses} WHERE scope = ? AND grant_id = ?`),
		insertUse: text(`INSERT INTO {uses} (scope, grant_id, n, proposal, claim, at) VALUES (?, ?, ?, ?, ?, ?)`),

		proposal: text(`SELECT ` + proposalColumns + ` FROM {proposals} WHERE scope = ? AND id = ?`),
		life:     text(`SELECT life FROM {scopes} WHERE scope = ?`),
		due:      text(`SELECT ` + proposalColumns + ` FROM {proposals}` + d.by("due") + ` WHERE due_at <= ? ORDER BY created_at, id LIMIT ?`),
	}
}

// among is how many values one statement looks for.
const among = 500

// list returns the text of a list of n values.
func list(n int) string { return "(?" + strings.Repeat(", ?", n-1) + ")" }

// marks returns a question mark for each column of a list.
func marks(columns string) string {
	b := []byte{'?'}
	for i := range len(columns) {
		if columns[i] == ',' {
			b = append(b, ", ?"...)
		}
	}
	return string(b)
}
