-- Version 1 for SQLite. Times are microseconds since 1970 in UTC; -62135596800000000 is none.

CREATE TABLE IF NOT EXISTS {authz_scopes} (
  scope TEXT NOT NULL,
  version INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  ceiling TEXT NOT NULL,
  disabled TEXT NOT NULL,
  standing INTEGER NOT NULL,
  roles TEXT NOT NULL,
  PRIMARY KEY (scope)
) STRICT;

CREATE TABLE IF NOT EXISTS {authz_actors} (
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  ord INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  active INTEGER NOT NULL,
  roles TEXT NOT NULL,
  overrides TEXT NOT NULL,
  identity TEXT NOT NULL,
  PRIMARY KEY (scope, id)
) STRICT;

CREATE TABLE IF NOT EXISTS {authz_grants} (
  scope TEXT NOT NULL,
  actor TEXT NOT NULL,
  ord INTEGER NOT NULL,
  tool TEXT NOT NULL,
  effect TEXT NOT NULL,
  standing_id TEXT NOT NULL,
  given_by TEXT NOT NULL,
  begins_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  uses INTEGER NOT NULL,
  below TEXT NOT NULL,
  definition TEXT NOT NULL,
  ask_only INTEGER NOT NULL,
  seal TEXT NOT NULL,
  PRIMARY KEY (scope, actor, ord)
) STRICT;
