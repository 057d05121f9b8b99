-- The whole schema of a store on SQLite. `SCHEMA` in src/sqlite/schema.rs is its version: count it up with every change here.
--
-- The ledger is the event store. Everything else can be computed from it again, except tables that are marked as content.
--
-- Projects, identities, runs, actions and worktrees have ids of sixteen bytes, and a place: the number of the entry that made them.
-- Rows refer to each other by place. It is short, and new rows lie at the end of every table and index, so that a commit changes few
-- pages.

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- ───── The ledger ─────

CREATE TABLE ledger (
    seq     INTEGER PRIMARY KEY,
    at_ms   INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    subject INTEGER,         -- the project, identity, run or worktree whose state the entry changes; for actions, `action` says it
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
-- Calls of models: sums what a run spent without reading its other entries.
CREATE INDEX ledger_calls      ON ledger (run, seq) WHERE kind = 'run.model_called';

-- Full tiles of the Merkle tree. A tile that is not full is read from the leaves, or from the roots of the level below.
CREATE TABLE tile (
    level  INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hashes BLOB    NOT NULL CHECK (length(hashes) = 8192),
    root   BLOB    NOT NULL CHECK (length(root) = 32),
    PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;

-- Content: signed tree heads.
CREATE TABLE head (
    size INTEGER PRIMARY KEY,
    note TEXT NOT NULL
) STRICT;

-- ───── Content that the ledger names by digest ─────

-- Content: the bytes of actions and the manifests of their results.
CREATE TABLE sealed (
    action INTEGER NOT NULL REFERENCES action (created),
    digest BLOB    NOT NULL CHECK (length(digest) = 32),
    bytes  BLOB    NOT NULL,
    PRIMARY KEY (action, digest)
) STRICT, WITHOUT ROWID;

-- Content: the agents' own words.
CREATE TABLE advice (
    action INTEGER PRIMARY KEY REFERENCES action (created),
    words  TEXT NOT NULL
) STRICT;

-- Content: password verifiers. They are not in the ledger, which strangers read and could guess at for ever; the ledger has their digest.
-- Only the newest of each person is kept.
CREATE TABLE password (
    identity BLOB NOT NULL PRIMARY KEY CHECK (length(identity) = 16),
    verifier TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- ───── Projections ─────
-- Current states as JSON, with the columns that are searched. They lie in the order of creation, so that lists in this order need no
-- sorting.

-- The organisation: one row, from the first entry about it on.
CREATE TABLE organisation (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    changed INTEGER NOT NULL REFERENCES ledger (seq),
    state   TEXT    NOT NULL
) STRICT;

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
    name    TEXT    NOT NULL,
    token   BLOB    NOT NULL UNIQUE CHECK (length(token) = 32),
    revoked INTEGER NOT NULL,
    state   TEXT    NOT NULL
) STRICT;
CREATE INDEX identity_by_name ON identity (name);

CREATE TABLE run (
    created    INTEGER PRIMARY KEY REFERENCES ledger (seq),
    id         BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    created_ms INTEGER NOT NULL,
    changed    INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    project    INTEGER NOT NULL REFERENCES project (created),
    status     TEXT    NOT NULL,
    is_open    INTEGER NOT NULL,    -- whether its waiting actions may still be decided
    host       BLOB CHECK (host IS NULL OR length(host) = 16),  -- the worker that hosts it
    wants      TEXT,                -- what its host should do next, or that it needs a host
    due_ms     INTEGER,             -- when the clockwork should look at it
    rollbacks  INTEGER NOT NULL,
    state      TEXT    NOT NULL
) STRICT;
CREATE INDEX run_by_project  ON run (project);
CREATE INDEX run_by_due      ON run (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX run_by_wants    ON run (wants) WHERE wants IS NOT NULL;
CREATE INDEX run_rolled_back ON run (created) WHERE rollbacks > 0;
-- Before bytes are handed out: the runs of an agent, and the runs whose outputs may be withheld.
CREATE INDEX run_by_agent    ON run (json_extract(state, '$.agent'));
CREATE INDEX run_by_host     ON run (project) WHERE host IS NOT NULL;
CREATE INDEX run_by_parent   ON run (json_extract(state, '$.parent')) WHERE json_extract(state, '$.parent') IS NOT NULL;

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
    tier       TEXT    NOT NULL,
    risk       INTEGER NOT NULL,    -- hundredths
    policy     BLOB    NOT NULL,    -- the version that judged it
    due_ms     INTEGER,             -- when it lapses, if it does
    rollbacks  INTEGER NOT NULL,    -- rollbacks of its run when it was proposed; an action older than the last rollback is void
    performing INTEGER NOT NULL,    -- rehearsed before, and executed at the results of its run because a reviewer said so
    asks       INTEGER NOT NULL,    -- whether an agent asks people with it: false for amendments and rehearsals
    bound      TEXT    NOT NULL,    -- who cannot approve it (any more): ids with a space between them
    named      TEXT,                -- the assigned reviewer
    aside      TEXT,                -- who snoozed it, and until when: an object of ids and milliseconds
    question   BLOB,                -- digest of the question, while it may be decided together with others that ask the same
    state      TEXT    NOT NULL
) STRICT;
CREATE INDEX action_by_project   ON action (project);
CREATE INDEX action_by_run       ON action (run);
-- An action changes its status five times in its life and then never again. The live ones are few, and in an index of
-- their own, which stays small; the others enter theirs once.
CREATE INDEX action_live         ON action (status, due_ms, project)  WHERE is_live;
CREATE INDEX action_ended        ON action (status, created, project) WHERE NOT is_live;
CREATE INDEX action_asked        ON action (run, created_ms) WHERE asks;
CREATE INDEX action_undecided    ON action (run) WHERE status = 'PENDING_APPROVAL';
-- Actions that wait for workers, run by run: workers are assigned to agents and runs in turn. It also counts how much an agent has waiting.
CREATE INDEX action_ready_by_run ON action (status, run, due_ms) WHERE is_live;
-- Actions of a run that wait for people or are in progress, counted with every step: the clock of the run stands while it only waits.
CREATE INDEX action_live_by_run  ON action (run, status, rollbacks) WHERE is_live;
-- The queue is read from its indexes alone: they hold who may decide an action, beside its place. Rows of actions are wide, and most of
-- those that are only counted or passed by would be read for it.
CREATE INDEX action_waiting ON action
    (risk DESC, created, run, performing, project, tier, question, named, aside, bound)
    WHERE status = 'PENDING_APPROVAL';
CREATE INDEX action_waiting_by_tier ON action
    (tier, risk DESC, created, run, performing, project, question, named, aside, bound)
    WHERE status = 'PENDING_APPROVAL';
CREATE INDEX action_question ON action
    (question, created, run, performing, tier, named, aside, bound)
    WHERE status = 'PENDING_APPROVAL' AND question IS NOT NULL;
CREATE INDEX action_aside ON action
    (risk DESC, created, run, performing, project, tier, question, aside)
    WHERE status = 'PENDING_APPROVAL' AND aside IS NOT NULL;
CREATE INDEX action_named       ON action (named, risk DESC) WHERE status = 'PENDING_APPROVAL' AND named IS NOT NULL;
CREATE INDEX action_interrupted ON action (risk DESC) WHERE status = 'INTERRUPTED';

-- Worktrees: one for each agent at each ticket of a project, however often it is reopened.
CREATE TABLE worktree (
    created    INTEGER PRIMARY KEY REFERENCES ledger (seq),
    id         BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    created_ms INTEGER NOT NULL,
    changed    INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    project    INTEGER NOT NULL REFERENCES project (created),
    ticket     TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    UNIQUE (project, ticket, agent)
) STRICT;

-- Which project keeps which bytes: one row for each time that they were kept or removed; the newest counts. The bytes lie in the
-- evidence folder. Like the ledger, this table only grows.
CREATE TABLE evidence (
    project    INTEGER NOT NULL REFERENCES project (created),
    digest     BLOB    NOT NULL CHECK (length(digest) = 32),
    seq        INTEGER NOT NULL REFERENCES ledger (seq),
    size_bytes INTEGER NOT NULL,
    removed    INTEGER NOT NULL,    -- whether the entry removed them
    PRIMARY KEY (project, digest, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_removed           ON evidence (seq) WHERE removed;
CREATE INDEX evidence_removed_by_digest ON evidence (digest) WHERE removed;

-- How questions to people ended: one row for each entry that ended one. Figures are made of it without reading the whole ledger.
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

-- ───── Content beside the ledger ─────

-- Content: answers under a caller's own name for a request.
CREATE TABLE idempotency (
    actor     TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    request   BLOB    NOT NULL CHECK (length(request) = 32),
    first_seq INTEGER NOT NULL,
    end_seq   INTEGER NOT NULL,
    PRIMARY KEY (actor, key)
) STRICT, WITHOUT ROWID;

-- Content: files that a person marked as seen, by bytes, path and project. It is about people, decides nothing, and is deleted after its
-- time.
CREATE TABLE seen_file (
    identity BLOB    NOT NULL CHECK (length(identity) = 16),
    project  BLOB    NOT NULL CHECK (length(project) = 16),
    digest   BLOB    NOT NULL CHECK (length(digest) = 32),
    path     TEXT    NOT NULL,
    at_ms    INTEGER NOT NULL,
    PRIMARY KEY (identity, project, digest, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX seen_file_by_person ON seen_file (identity, at_ms);
CREATE INDEX seen_file_by_time   ON seen_file (at_ms);

-- Content: uploads that nothing has named yet, with their owner and time. They count towards the limits of their owner, and are removed
-- after a day. A row goes when something names the bytes, or when they are removed.
CREATE TABLE upload (
    project    INTEGER NOT NULL REFERENCES project (created),
    digest     BLOB    NOT NULL CHECK (length(digest) = 32),
    identity   BLOB    NOT NULL CHECK (length(identity) = 16),
    size_bytes INTEGER NOT NULL,
    at_ms      INTEGER NOT NULL,
    PRIMARY KEY (project, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX upload_by_identity ON upload (identity, size_bytes);
CREATE INDEX upload_by_project  ON upload (project, size_bytes);

-- Content: how far each follower of the ledger has come. The ledger does not say what was delivered to whom.
CREATE TABLE webhook_cursor (
    name     TEXT    NOT NULL PRIMARY KEY,
    next_seq INTEGER NOT NULL CHECK (next_seq >= 0)   -- the first entry that is not settled yet
) STRICT, WITHOUT ROWID;

-- Content: what each notification route still owes whom, and when it last sent something: one bounded row for each recipient, under the
-- id of an identity or a digest, without an address.
CREATE TABLE notice_debt (
    follower  TEXT NOT NULL,
    recipient TEXT NOT NULL,
    state     TEXT NOT NULL,
    PRIMARY KEY (follower, recipient)
) STRICT, WITHOUT ROWID;

-- ───── Guards ─────
-- The past is not changed, removed, or replaced: not by this program, and not by accident from another.
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
WHEN EXISTS (SELECT 1 FROM evidence WHERE project = NEW.project AND digest = NEW.digest AND seq >= NEW.seq)
BEGIN SELECT raise(ABORT, 'what is known of evidence is never replaced'); END;
CREATE TRIGGER evidence_is_not_changed BEFORE UPDATE ON evidence
BEGIN SELECT raise(ABORT, 'what is known of evidence is never changed'); END;
CREATE TRIGGER evidence_is_not_removed BEFORE DELETE ON evidence
BEGIN SELECT raise(ABORT, 'what is known of evidence is never removed'); END;

CREATE TRIGGER webhook_cursor_only_advances BEFORE UPDATE ON webhook_cursor
WHEN NEW.next_seq < OLD.next_seq OR NEW.name IS NOT OLD.name
BEGIN SELECT raise(ABORT, 'cursors never go back'); END;
