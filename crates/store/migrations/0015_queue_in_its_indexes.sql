-- The queue is gone over from its indexes alone: whose word an action waits for stands in them, beside its place. Rows of actions are
-- wide, and most of those that are only counted or passed by were read for it.
DROP INDEX action_waiting;
DROP INDEX action_waiting_by_tier;
DROP INDEX action_question;
DROP INDEX action_aside;
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
