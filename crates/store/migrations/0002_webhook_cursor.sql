-- How far each receiver of webhooks has come. Content: the ledger does not say what was delivered to whom.
CREATE TABLE webhook_cursor (
    name     TEXT    NOT NULL PRIMARY KEY,
    next_seq INTEGER NOT NULL CHECK (next_seq >= 0)   -- the first entry that is not settled yet
) STRICT, WITHOUT ROWID;

-- What was delivered stays delivered.
CREATE TRIGGER webhook_cursor_only_advances BEFORE UPDATE ON webhook_cursor
WHEN NEW.next_seq < OLD.next_seq OR NEW.name IS NOT OLD.name
BEGIN SELECT raise(ABORT, 'cursors never go back'); END;
