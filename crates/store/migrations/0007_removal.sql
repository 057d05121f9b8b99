-- Contents can be removed, and kept again after that. What was a row for each content is now one for each time that it was kept or
-- removed; the newest says how it stands. Like the ledger, it only grows.
DROP TRIGGER evidence_is_not_replaced;
DROP TRIGGER evidence_is_not_changed;
DROP TRIGGER evidence_is_not_removed;
-- It is filled from the ledger when this step is taken, because projections are then computed anew.
DROP TABLE evidence;

CREATE TABLE evidence (
    project    INTEGER NOT NULL REFERENCES project (created),
    digest     BLOB    NOT NULL CHECK (length(digest) = 32),
    seq        INTEGER NOT NULL REFERENCES ledger (seq),
    size_bytes INTEGER NOT NULL,
    removed    INTEGER NOT NULL,    -- whether this is when it was removed
    PRIMARY KEY (project, digest, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX evidence_removed ON evidence (seq) WHERE removed;
CREATE INDEX evidence_removed_by_digest ON evidence (digest) WHERE removed;

CREATE TRIGGER evidence_is_not_replaced BEFORE INSERT ON evidence
WHEN EXISTS (SELECT 1 FROM evidence WHERE project = NEW.project AND digest = NEW.digest AND seq >= NEW.seq)
BEGIN SELECT raise(ABORT, 'what is known of evidence is never replaced'); END;
CREATE TRIGGER evidence_is_not_changed BEFORE UPDATE ON evidence
BEGIN SELECT raise(ABORT, 'what is known of evidence is never changed'); END;
CREATE TRIGGER evidence_is_not_removed BEFORE DELETE ON evidence
BEGIN SELECT raise(ABORT, 'what is known of evidence is never removed'); END;
