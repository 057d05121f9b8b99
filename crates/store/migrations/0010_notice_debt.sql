-- What each way by which people are told still owes whom, and when it told them last: one bounded row for each recipient, under the id of an
-- identity or a digest and under no address. Content: the ledger does not say who was told what.
CREATE TABLE notice_debt (
    follower  TEXT NOT NULL,
    recipient TEXT NOT NULL,
    state     TEXT NOT NULL,
    PRIMARY KEY (follower, recipient)
) STRICT, WITHOUT ROWID;
