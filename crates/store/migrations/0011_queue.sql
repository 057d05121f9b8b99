-- The queue, tier by tier and person by person: the riskiest first, then the oldest, wherever somebody goes on in it.
ALTER TABLE action ADD COLUMN tier TEXT NOT NULL DEFAULT '';
-- Who cannot say yes to it (any more): whoever stands behind it, wrote a part of it, or said yes already. Ids with a space between them.
ALTER TABLE action ADD COLUMN bound TEXT NOT NULL DEFAULT '';
CREATE INDEX action_waiting_by_tier ON action (tier, risk DESC) WHERE status = 'PENDING_APPROVAL';
CREATE INDEX action_interrupted     ON action (risk DESC) WHERE status = 'INTERRUPTED';

-- Calls of models, so that what a run spent is summed up without reading everything else that happened to it.
CREATE INDEX ledger_calls ON ledger (run, seq) WHERE kind = 'run.model_called';
