-- The organisation: one row, from the first entry about it on.
CREATE TABLE organisation (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    changed INTEGER NOT NULL REFERENCES ledger (seq),
    state   TEXT    NOT NULL
) STRICT;

ALTER TABLE run ADD COLUMN host BLOB CHECK (host IS NULL OR length(host) = 16);  -- the worker that hosts it
ALTER TABLE run ADD COLUMN wants TEXT;                                           -- what its host should bring about, or that it wants one
ALTER TABLE run ADD COLUMN due_ms INTEGER;                                       -- when the clockwork should look at it
ALTER TABLE run ADD COLUMN rollbacks INTEGER NOT NULL DEFAULT 0;
CREATE INDEX run_by_due ON run (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX run_by_wants ON run (wants) WHERE wants IS NOT NULL;
CREATE INDEX run_rolled_back ON run (created) WHERE rollbacks > 0;

-- How often its run had been rolled back when it was proposed: what is older than its run's last rollback is void.
ALTER TABLE action ADD COLUMN rollbacks INTEGER NOT NULL DEFAULT 0;
