-- Who should look at a question, and who set it aside until when: an object of ids and milliseconds. Nothing where nobody said so.
ALTER TABLE action ADD COLUMN named TEXT;
ALTER TABLE action ADD COLUMN aside TEXT;
CREATE INDEX action_named ON action (named, risk DESC) WHERE status = 'PENDING_APPROVAL' AND named IS NOT NULL;
CREATE INDEX action_aside ON action (risk DESC) WHERE status = 'PENDING_APPROVAL' AND aside IS NOT NULL;
