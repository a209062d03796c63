DROP TRIGGER IF EXISTS {records_no_update};

CREATE TRIGGER {records_no_update} BEFORE UPDATE ON {records} FOR EACH ROW
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the audit trail is insert-only';

DROP TRIGGER IF EXISTS {records_no_delete};

CREATE TRIGGER {records_no_delete} BEFORE DELETE ON {records} FOR EACH ROW
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the audit trail is insert-only';

-- TRUNCATE asks no trigger, but it is refused for a table that a foreign key refers to.
CREATE TABLE IF NOT EXISTS {records_guard} (
  seq BIGINT NOT NULL PRIMARY KEY,
  FOREIGN KEY (seq) REFERENCES {records} (seq)
) ENGINE=InnoDB;
