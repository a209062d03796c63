-- Version 1 for PostgreSQL. Times are microseconds since 1970 in UTC; -62135596800000000 is none.
-- Collation "C" compares byte for byte.

CREATE TABLE IF NOT EXISTS {proposals} (
  scope TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  principal TEXT COLLATE "C" NOT NULL,
  background SMALLINT NOT NULL,
  via TEXT NOT NULL,
  tools TEXT NOT NULL,
  run TEXT COLLATE "C" NOT NULL,
  origin TEXT COLLATE "C" NOT NULL,
  conversation TEXT COLLATE "C" NOT NULL,
  action TEXT COLLATE "C" NOT NULL,
  params TEXT NOT NULL,
  targets TEXT NOT NULL,
  definition TEXT COLLATE "C" NOT NULL,
  version TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  supersedes TEXT COLLATE "C" NOT NULL,
  revised_by TEXT NOT NULL,
  seal TEXT COLLATE "C" NOT NULL,
  identity TEXT COLLATE "C" NOT NULL,
  party TEXT COLLATE "C" NOT NULL,
  talk TEXT COLLATE "C" NOT NULL,
  decision TEXT COLLATE "C" NOT NULL,
  decided_by TEXT COLLATE "C" NOT NULL,
  decided_at BIGINT NOT NULL,
  note TEXT NOT NULL,
  claim TEXT COLLATE "C" NOT NULL,
  grant_id TEXT COLLATE "C" NOT NULL,
  run_by BIGINT NOT NULL,
  outcome TEXT COLLATE "C" NOT NULL,
  finished_at BIGINT NOT NULL,
  result TEXT NOT NULL,
  error TEXT NOT NULL,
  told TEXT NOT NULL,
  baseline TEXT COLLATE "C",
  unmeasured TEXT NOT NULL,
  verify_at BIGINT NOT NULL,
  verdict TEXT COLLATE "C" NOT NULL,
  measured TEXT COLLATE "C",
  verified_at BIGINT NOT NULL,
  due_at BIGINT GENERATED ALWAYS AS (CASE WHEN decision = 'claimed' AND verdict = '' THEN
    CASE WHEN outcome = '' THEN run_by WHEN verify_at > -62135596800000000 THEN verify_at END END) STORED,
  PRIMARY KEY (scope, id)
);

CREATE INDEX IF NOT EXISTS [proposals_list] ON {proposals} (scope, created_at, id);

CREATE INDEX IF NOT EXISTS [proposals_pending] ON {proposals} (scope, created_at, id, expires_at) WHERE decision = '';

CREATE INDEX IF NOT EXISTS [proposals_party] ON {proposals} (party, expires_at, talk, identity) WHERE decision = '';

CREATE INDEX IF NOT EXISTS [proposals_due] ON {proposals} (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS {records} (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at BIGINT NOT NULL,
  event TEXT COLLATE "C" NOT NULL,
  code TEXT COLLATE "C" NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  scope TEXT COLLATE "C" NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  principal TEXT COLLATE "C" NOT NULL,
  background SMALLINT NOT NULL,
  via TEXT NOT NULL,
  tools TEXT NOT NULL,
  run TEXT COLLATE "C" NOT NULL,
  origin TEXT COLLATE "C" NOT NULL,
  conversation TEXT COLLATE "C" NOT NULL,
  operator TEXT COLLATE "C" NOT NULL,
  action TEXT COLLATE "C" NOT NULL,
  targets TEXT NOT NULL,
  params TEXT NOT NULL,
  proposal TEXT COLLATE "C" NOT NULL,
  claim TEXT COLLATE "C" NOT NULL,
  grant_id TEXT COLLATE "C" NOT NULL,
  result TEXT NOT NULL,
  error TEXT NOT NULL,
  times BIGINT NOT NULL,
  decides TEXT COLLATE "C",
  attempt TEXT COLLATE "C" NOT NULL
);

CREATE INDEX IF NOT EXISTS [records_list] ON {records} (scope, seq);

CREATE INDEX IF NOT EXISTS [records_proposal] ON {records} (scope, proposal, seq);

CREATE UNIQUE INDEX IF NOT EXISTS [records_decides] ON {records} (scope, decides) WHERE decides IS NOT NULL;

CREATE TABLE IF NOT EXISTS {scopes} (
  scope TEXT COLLATE "C" NOT NULL,
  life BIGINT NOT NULL,
  PRIMARY KEY (scope)
);

CREATE TABLE IF NOT EXISTS {grants} (
  scope TEXT COLLATE "C" NOT NULL,
  grant_id TEXT COLLATE "C" NOT NULL,
  turns BIGINT NOT NULL,
  PRIMARY KEY (scope, grant_id)
);

CREATE TABLE IF NOT EXISTS {uses} (
  scope TEXT COLLATE "C" NOT NULL,
  grant_id TEXT COLLATE "C" NOT NULL,
  n BIGINT NOT NULL,
  proposal TEXT COLLATE "C" NOT NULL,
  claim TEXT COLLATE "C" NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (scope, grant_id, n)
);
