DROP TRIGGER IF EXISTS [records_no_update];

CREATE TRIGGER [records_no_update] BEFORE UPDATE ON {records}
BEGIN SELECT RAISE(ABORT, 'the audit trail is insert-only'); END;

DROP TRIGGER IF EXISTS [records_no_delete];

CREATE TRIGGER [records_no_delete] BEFORE DELETE ON {records}
BEGIN SELECT RAISE(ABORT, 'the audit trail is insert-only'); END;

-- INSERT OR REPLACE deletes rows without asking a trigger for DELETE.
DROP TRIGGER IF EXISTS [records_no_replace];

CREATE TRIGGER [records_no_replace] BEFORE INSERT ON {records}
WHEN EXISTS (SELECT 1 FROM {records} WHERE seq = NEW.seq)
  OR EXISTS (SELECT 1 FROM {records} WHERE scope = NEW.scope AND decides = NEW.decides AND decides IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: the audit trail is insert-only'); END;
