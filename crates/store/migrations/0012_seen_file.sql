-- Files that somebody marked as seen: whose mark it is, and which bytes at which path of which project. Not in the ledger, which is for ever: it
-- is about people, decides nothing, and is forgotten after its time.
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
