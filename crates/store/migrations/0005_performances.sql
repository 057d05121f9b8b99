-- Rehearsed first, and done because a reviewer said so: executed at the results of its run, and not before.
ALTER TABLE action ADD COLUMN performing INTEGER NOT NULL DEFAULT 0;
