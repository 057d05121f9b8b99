-- Before bytes are handed out: the runs of an agent, and those whose outputs nobody may have let out.
CREATE INDEX run_by_agent ON run (json_extract(state, '$.agent'));
CREATE INDEX run_by_host ON run (project) WHERE host IS NOT NULL;
