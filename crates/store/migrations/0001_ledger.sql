-- The ledger is the event store. Everything below it can be computed from it again, except what is marked as content.
--
-- Projects, identities, runs and actions have ids of sixteen bytes, and a place: the number of the entry that made them.
-- Rows refer to each other by place. It is short, and what is new lies at the end of every table and index, so that
-- a commit changes few pages.

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger (
    seq     INTEGER PRIMARY KEY,
    at_ms   INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    subject INTEGER,         -- the project, identity or run whose state the entry changes; for actions, `action` says it
    project INTEGER,
    run     INTEGER,
    action  INTEGER,
    leaf    BLOB    NOT NULL CHECK (length(leaf) = 32),
    bytes   BLOB    NOT NULL
) STRICT;
CREATE INDEX ledger_by_subject ON ledger (subject) WHERE subject IS NOT NULL;
CREATE INDEX ledger_by_project ON ledger (project) WHERE project IS NOT NULL;
CREATE INDEX ledger_by_run     ON ledger (run)     WHERE run IS NOT NULL;
CREATE INDEX ledger_by_action  ON ledger (action)  WHERE action IS NOT NULL;

-- Full tiles only; what is not full yet is read from the leaves, or from the roots of the level below.
CREATE TABLE tile (
    level  INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hashes BLOB    NOT NULL CHECK (length(hashes) = 8192),
    root   BLOB    NOT NULL CHECK (length(root) = 32),
    PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;

-- Content: cannot be computed again.
CREATE TABLE head (
    size INTEGER PRIMARY KEY,
    note TEXT NOT NULL
) STRICT;

-- Content: the bytes of actions and the manifests of what they left, of which the ledger holds the digest.
CREATE TABLE sealed (
    action INTEGER NOT NULL REFERENCES action (created),
    digest BLOB    NOT NULL CHECK (length(digest) = 32),
    bytes  BLOB    NOT NULL,
    PRIMARY KEY (action, digest)
) STRICT, WITHOUT ROWID;

-- Content: the agents' own words, of which the ledger holds the digest.
CREATE TABLE advice (
    action INTEGER PRIMARY KEY REFERENCES action (created),
    words  TEXT NOT NULL
) STRICT;

-- The projections lie in the order of creation, so that lists in this order need no sorting.

CREATE TABLE project (
    created    INTEGER PRIMARY KEY REFERENCES ledger (seq),
    id         BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    created_ms INTEGER NOT NULL,
    name       TEXT    NOT NULL UNIQUE,
    state      TEXT    NOT NULL
) STRICT;

CREATE TABLE scope (
    seq     INTEGER PRIMARY KEY REFERENCES ledger (seq),
    at_ms   INTEGER NOT NULL,
    project INTEGER NOT NULL REFERENCES project (created),
    name    TEXT    NOT NULL,
    state   TEXT    NOT NULL
) STRICT;
CREATE INDEX scope_by_name ON scope (project, name);

CREATE TABLE identity (
    created INTEGER PRIMARY KEY REFERENCES ledger (seq),
    id      BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    token   BLOB    NOT NULL UNIQUE CHECK (length(token) = 32),
    revoked INTEGER NOT NULL,
    state   TEXT    NOT NULL
) STRICT;

CREATE TABLE run (
    created    INTEGER PRIMARY KEY REFERENCES ledger (seq),
    id         BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    created_ms INTEGER NOT NULL,
    changed    INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    project    INTEGER NOT NULL REFERENCES project (created),
    status     TEXT    NOT NULL,
    is_open    INTEGER NOT NULL,    -- whether its waiting actions may still be decided
    state      TEXT    NOT NULL
) STRICT;
CREATE INDEX run_by_project ON run (project);

CREATE TABLE action (
    created    INTEGER PRIMARY KEY REFERENCES ledger (seq),
    id         BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    created_ms INTEGER NOT NULL,
    changed    INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    project    INTEGER NOT NULL REFERENCES project (created),
    run        INTEGER NOT NULL REFERENCES run (created),
    status     TEXT    NOT NULL,
    is_live    INTEGER NOT NULL,    -- whether it may still change
    risk       INTEGER NOT NULL,    -- hundredths
    policy     BLOB    NOT NULL,    -- the version that judged it
    due_ms     INTEGER,             -- when it lapses, if it does
    state      TEXT    NOT NULL
) STRICT;
CREATE INDEX action_by_project ON action (project);
CREATE INDEX action_by_run     ON action (run);
-- An action changes its status five times in its life and then never again. The live ones are few, and in an index of
-- their own, which stays small; the others enter theirs once.
CREATE INDEX action_live       ON action (status, due_ms, project)  WHERE is_live;
CREATE INDEX action_ended      ON action (status, created, project) WHERE NOT is_live;
CREATE INDEX action_waiting    ON action (risk DESC) WHERE status = 'PENDING_APPROVAL';

-- Which project keeps which bytes. The bytes lie in the evidence folder.
CREATE TABLE evidence (
    project    INTEGER NOT NULL REFERENCES project (created),
    digest     BLOB    NOT NULL CHECK (length(digest) = 32),
    size_bytes INTEGER NOT NULL,
    seq        INTEGER NOT NULL REFERENCES ledger (seq),
    PRIMARY KEY (project, digest)
) STRICT, WITHOUT ROWID;

-- Content: what was answered under a caller's own name for a request.
CREATE TABLE idempotency (
    actor     TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    request   BLOB    NOT NULL CHECK (length(request) = 32),
    first_seq INTEGER NOT NULL,
    end_seq   INTEGER NOT NULL,
    PRIMARY KEY (actor, key)
) STRICT, WITHOUT ROWID;

-- What happened is not changed, removed, or replaced: not by this program, and not by accident from another.
-- Inserts are checked too, because `INSERT OR REPLACE` removes a row without asking the triggers on removal.

CREATE TRIGGER ledger_grows_by_one BEFORE INSERT ON ledger
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq) + 1, 0) FROM ledger)
BEGIN SELECT raise(ABORT, 'ledger entries are numbered without gaps'); END;
CREATE TRIGGER ledger_is_not_changed BEFORE UPDATE ON ledger
BEGIN SELECT raise(ABORT, 'ledger entries are never changed'); END;
CREATE TRIGGER ledger_is_not_removed BEFORE DELETE ON ledger
BEGIN SELECT raise(ABORT, 'ledger entries are never removed'); END;

CREATE TRIGGER tile_is_not_replaced BEFORE INSERT ON tile
WHEN EXISTS (SELECT 1 FROM tile WHERE level = NEW.level AND number = NEW.number)
BEGIN SELECT raise(ABORT, 'tiles are never replaced'); END;
CREATE TRIGGER tile_is_not_changed BEFORE UPDATE ON tile
BEGIN SELECT raise(ABORT, 'tiles are never changed'); END;
CREATE TRIGGER tile_is_not_removed BEFORE DELETE ON tile
BEGIN SELECT raise(ABORT, 'tiles are never removed'); END;

CREATE TRIGGER head_is_not_replaced BEFORE INSERT ON head
WHEN EXISTS (SELECT 1 FROM head WHERE size = NEW.size)
BEGIN SELECT raise(ABORT, 'signed heads are never replaced'); END;
CREATE TRIGGER head_is_not_changed BEFORE UPDATE ON head
BEGIN SELECT raise(ABORT, 'signed heads are never changed'); END;
CREATE TRIGGER head_is_not_removed BEFORE DELETE ON head
BEGIN SELECT raise(ABORT, 'signed heads are never removed'); END;

CREATE TRIGGER sealed_is_not_replaced BEFORE INSERT ON sealed
WHEN EXISTS (SELECT 1 FROM sealed WHERE action = NEW.action AND digest = NEW.digest)
BEGIN SELECT raise(ABORT, 'sealed documents are never replaced'); END;
CREATE TRIGGER sealed_is_not_changed BEFORE UPDATE ON sealed
BEGIN SELECT raise(ABORT, 'sealed documents are never changed'); END;
CREATE TRIGGER sealed_is_not_removed BEFORE DELETE ON sealed
BEGIN SELECT raise(ABORT, 'sealed documents are never removed'); END;

CREATE TRIGGER evidence_is_not_replaced BEFORE INSERT ON evidence
WHEN EXISTS (SELECT 1 FROM evidence WHERE project = NEW.project AND digest = NEW.digest)
BEGIN SELECT raise(ABORT, 'evidence is never replaced'); END;
CREATE TRIGGER evidence_is_not_changed BEFORE UPDATE ON evidence
BEGIN SELECT raise(ABORT, 'evidence is never changed'); END;
CREATE TRIGGER evidence_is_not_removed BEFORE DELETE ON evidence
BEGIN SELECT raise(ABORT, 'evidence is never removed'); END;
