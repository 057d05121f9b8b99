-- How questions to people ended, one row for the entry that ended each. Computed from the ledger, so that figures need not read all of it.
CREATE TABLE decision (
    seq             INTEGER PRIMARY KEY REFERENCES ledger (seq),
    at_ms           INTEGER NOT NULL,
    asked_ms        INTEGER NOT NULL,
    project         INTEGER NOT NULL REFERENCES project (created),
    action          INTEGER NOT NULL REFERENCES action (created),
    reviewer        BLOB CHECK (reviewer IS NULL OR length(reviewer) = 16),
    tier            TEXT    NOT NULL,
    kind            TEXT    NOT NULL,
    outcome         TEXT    NOT NULL,
    single_operator INTEGER NOT NULL
) STRICT;
CREATE INDEX decision_by_time     ON decision (at_ms);
CREATE INDEX decision_by_reviewer ON decision (reviewer, at_ms) WHERE reviewer IS NOT NULL;

-- How long somebody had a card open before they decided, and how long it takes to read it. Not in the ledger, which is for ever: it is
-- about people, and forgotten after the time that figures are made of.
CREATE TABLE look (
    seq       INTEGER PRIMARY KEY REFERENCES ledger (seq),
    at_ms     INTEGER NOT NULL,
    looked_ms INTEGER NOT NULL,
    needed_ms INTEGER NOT NULL
) STRICT;

-- Whether an agent asks people with it. What a reviewer made of a proposal, and what is only rehearsed, is no question of an agent.
ALTER TABLE action ADD COLUMN asks INTEGER NOT NULL DEFAULT 0;
CREATE INDEX action_asked     ON action (run, created_ms) WHERE asks;
CREATE INDEX action_undecided ON action (run) WHERE status = 'PENDING_APPROVAL';
CREATE INDEX run_by_parent    ON run (json_extract(state, '$.parent')) WHERE json_extract(state, '$.parent') IS NOT NULL;
