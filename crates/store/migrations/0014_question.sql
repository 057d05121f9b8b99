-- What an action asks of people, while it may be decided together with others that ask the same; nothing where it is looked at by itself.
ALTER TABLE action ADD COLUMN question BLOB;
CREATE INDEX action_question ON action (question) WHERE status = 'PENDING_APPROVAL' AND question IS NOT NULL;
