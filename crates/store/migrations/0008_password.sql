-- What a person's password is compared with. It is not in the ledger, which strangers read, and could be guessed at there for ever;
-- the ledger has its digest. The newest is kept, older ones are gone.
CREATE TABLE password (
    identity BLOB NOT NULL PRIMARY KEY CHECK (length(identity) = 16),
    verifier TEXT NOT NULL
) STRICT, WITHOUT ROWID;
