-- Version 1 for SQLite. Times are microseconds since 1970 in UTC; -62135596800000000 is none.
-- SQLite compares TEXT byte for byte.

CREATE TABLE IF NOT EXISTS {proposals} (
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  actor TEXT NOT NULL,
  kind TEXT NOT NULL,
  principal TEXT NOT NULL,
  background INTEGER NOT NULL,
  via TEXT NOT NULL,
  tools TEXT NOT NULL,
  run TEXT NOT NULL,
  origin TEXT NOT NULL,
  conversation TEXT NOT NULL,
  action TEXT NOT NULL,
  params TEXT NOT NULL,
  targets TEXT NOT NULL,
  definition TEXT NOT NULL,
  version TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  supersedes TEXT NOT NULL,
  revised_by TEXT NOT NULL,
  seal TEXT NOT NULL,
  identity TEXT NOT NULL,
  party TEXT NOT NULL,
  talk TEXT NOT NULL,
  decision TEXT NOT NULL,
  decided_by TEXT NOT NULL,
  decided_at INTEGER NOT NULL,
  note TEXT NOT NULL,
  claim TEXT NOT NULL,
  grant_id TEXT NOT NULL,
  run_by INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  finished_at INTEGER NOT NULL,
  result TEXT NOT NULL,
  error TEXT NOT NULL,
  told TEXT NOT NULL,
  baseline TEXT,
  unmeasured TEXT NOT NULL,
  verify_at INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  measured TEXT,
  verified_at INTEGER NOT NULL,
  due_at INTEGER GENERATED ALWAYS AS (CASE WHEN decision = 'claimed' AND verdict = '' THEN
    CASE WHEN outcome = '' THEN run_by WHEN verify_at > -62135596800000000 THEN verify_at END END) STORED,
  PRIMARY KEY (scope, id)
) STRICT;

CREATE INDEX IF NOT EXISTS [proposals_list] ON {proposals} (scope, created_at, id);

CREATE INDEX IF NOT EXISTS [proposals_pending] ON {proposals} (scope, created_at, id, expires_at) WHERE decision = '';

CREATE INDEX IF NOT EXISTS [proposals_party] ON {proposals} (party, expires_at, talk, identity) WHERE decision = '';

CREATE INDEX IF NOT EXISTS [proposals_due] ON {proposals} (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS {records} (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  event TEXT NOT NULL,
  code TEXT NOT NULL,
  reason TEXT NOT NULL,
  scope TEXT NOT NULL,
  actor TEXT NOT NULL,
  kind TEXT NOT NULL,
  principal TEXT NOT NULL,
  background INTEGER NOT NULL,
  via TEXT NOT NULL,
  tools TEXT NOT NULL,
  run TEXT NOT NULL,
  origin TEXT NOT NULL,
  conversation TEXT NOT NULL,
  operator TEXT NOT NULL,
  action TEXT NOT NULL,
  targets TEXT NOT NULL,
  params TEXT NOT NULL,
  proposal TEXT NOT NULL,
  claim TEXT NOT NULL,
  grant_id TEXT NOT NULL,
  result TEXT NOT NULL,
  error TEXT NOT NULL,
  times INTEGER NOT NULL,
  decides TEXT,
  attempt TEXT NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS [records_list] ON {records} (scope, seq);

CREATE INDEX IF NOT EXISTS [records_proposal] ON {records} (scope, proposal, seq);

CREATE UNIQUE INDEX IF NOT EXISTS [records_decides] ON {records} (scope, decides) WHERE decides IS NOT NULL;

CREATE TABLE IF NOT EXISTS {scopes} (
  scope TEXT NOT NULL,
  life INTEGER NOT NULL,
  PRIMARY KEY (scope)
) STRICT;

CREATE TABLE IF NOT EXISTS {grants} (
  scope TEXT NOT NULL,
  grant_id TEXT NOT NULL,
  turns INTEGER NOT NULL,
  PRIMARY KEY (scope, grant_id)
) STRICT;

CREATE TABLE IF NOT EXISTS {uses} (
  scope TEXT NOT NULL,
  grant_id TEXT NOT NULL,
  n INTEGER NOT NULL,
  proposal TEXT NOT NULL,
  claim TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (scope, grant_id, n)
) STRICT;
