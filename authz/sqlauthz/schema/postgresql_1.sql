-- Version 1 for PostgreSQL. Times are microseconds since 1970 in UTC; -62135596800000000 is none.
-- Collation "C" compares byte for byte.

CREATE TABLE IF NOT EXISTS {authz_scopes} (
  scope TEXT COLLATE "C" NOT NULL,
  version BIGINT NOT NULL,
  attempt TEXT COLLATE "C" NOT NULL,
  ceiling TEXT COLLATE "C" NOT NULL,
  disabled TEXT NOT NULL,
  standing SMALLINT NOT NULL,
  roles TEXT NOT NULL,
  PRIMARY KEY (scope)
);

CREATE TABLE IF NOT EXISTS {authz_actors} (
  scope TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  ord BIGINT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  active SMALLINT NOT NULL,
  roles TEXT NOT NULL,
  overrides TEXT NOT NULL,
  identity TEXT NOT NULL,
  PRIMARY KEY (scope, id)
);

CREATE TABLE IF NOT EXISTS {authz_grants} (
  scope TEXT COLLATE "C" NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  ord BIGINT NOT NULL,
  tool TEXT COLLATE "C" NOT NULL,
  effect TEXT COLLATE "C" NOT NULL,
  standing_id TEXT COLLATE "C" NOT NULL,
  given_by TEXT COLLATE "C" NOT NULL,
  begins_at BIGINT NOT NULL,
  ends_at BIGINT NOT NULL,
  uses BIGINT NOT NULL,
  below TEXT NOT NULL,
  definition TEXT COLLATE "C" NOT NULL,
  ask_only SMALLINT NOT NULL,
  seal TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, actor, ord)
);
