-- What waits for workers, run by run: they are given to agents and runs in turn, so that nobody waits behind everything that another has
-- proposed. It is also by this index that it is counted how much an agent has waiting.
CREATE INDEX action_ready_by_run ON action (status, run, due_ms) WHERE is_live;
