-- What of a run waits for people and what is under way, counted with every step of its actions: its clock stands while it only waits.
CREATE INDEX action_live_by_run ON action (run, status, rollbacks) WHERE is_live;
