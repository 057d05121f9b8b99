-- Worktrees: one for each agent at each ticket of a project, however often it is taken up.
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
