CREATE OR REPLACE FUNCTION {refuse_change}() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit trail is insert-only'; END $$;

DROP TRIGGER IF EXISTS no_change ON {records};

CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON {records} FOR EACH ROW EXECUTE FUNCTION {refuse_change}();

DROP TRIGGER IF EXISTS no_truncate ON {records};

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON {records} FOR EACH STATEMENT EXECUTE FUNCTION {refuse_change}();
