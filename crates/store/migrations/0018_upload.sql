-- Bytes that somebody uploaded and nothing has named yet: whose they are, and since when. Content: whoever uploads is bounded by it, and what
-- nothing names within a day is removed. A row goes when something names the bytes, or when they are removed.
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
