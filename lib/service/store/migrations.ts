/** The metadata of the records of a table, by key and value: a filter is a range of it. */
const metadataOf = (table: string, index: string) => `CREATE TABLE ${index} (
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES ${table} (seq),
    PRIMARY KEY (account, key, value, seq)
  ) STRICT, WITHOUT ROWID;`

/** The schema, step by step; a database of version N has had the first N. A step that was released never changes. */
export const migrations: readonly string[] = [
  // Rowid (seq) follows creation, so "newest first" is the table's own order. created time and account ride in the
  // metadata index through seq: a filter is an index range, never a scan.
  `
  CREATE TABLE axons (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    name TEXT,
    created_at_ms INTEGER NOT NULL,
    deleted_at_ms INTEGER,
    metadata TEXT NOT NULL
  ) STRICT;
  CREATE INDEX axons_by_account ON axons (account, seq);
  CREATE INDEX axons_by_name ON axons (account, name, seq);
  ${metadataOf('axons', 'axon_metadata')}
  `,
  `
  CREATE TABLE devboxes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    name TEXT,
    status TEXT NOT NULL,
    create_time_ms INTEGER NOT NULL,
    end_time_ms INTEGER,
    launch_parameters TEXT NOT NULL,
    environment_variables TEXT NOT NULL,
    entrypoint TEXT,
    metadata TEXT NOT NULL,
    state_transitions TEXT NOT NULL,
    tunnel TEXT,
    failure_reason TEXT,
    shutdown_reason TEXT,
    keep_alive_until_ms INTEGER
  ) STRICT;
  CREATE INDEX devboxes_by_account ON devboxes (account, seq);
  CREATE INDEX devboxes_by_status ON devboxes (account, status, seq);
  ${metadataOf('devboxes', 'devbox_metadata')}
  CREATE TABLE executions (
    id TEXT NOT NULL,
    devbox_id TEXT NOT NULL REFERENCES devboxes (id),
    command TEXT NOT NULL,
    shell_name TEXT,
    status TEXT NOT NULL,
    exit_status INTEGER,
    create_time_ms INTEGER NOT NULL,
    end_time_ms INTEGER,
    PRIMARY KEY (devbox_id, id)
  ) STRICT;
  CREATE INDEX executions_unfinished ON executions (status) WHERE status <> 'completed';
  CREATE TABLE evictions (
    devbox_id TEXT PRIMARY KEY REFERENCES devboxes (id),
    account TEXT NOT NULL,
    eviction_deadline_ms INTEGER NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE devboxes ADD COLUMN snapshot_id TEXT;
  ALTER TABLE devboxes ADD COLUMN secrets TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE devboxes ADD COLUMN isolation TEXT;
  ALTER TABLE devboxes ADD COLUMN initiator_type TEXT NOT NULL DEFAULT 'api';
  ALTER TABLE devboxes ADD COLUMN initiator_id TEXT;
  ALTER TABLE devboxes ADD COLUMN last_used_ms INTEGER;
  ALTER TABLE executions ADD COLUMN request_id TEXT;
  ALTER TABLE executions ADD COLUMN stdout_cut INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE executions ADD COLUMN stderr_cut INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX executions_by_request ON executions (devbox_id, request_id) WHERE request_id IS NOT NULL;
  CREATE UNIQUE INDEX devboxes_by_tunnel ON devboxes (tunnel ->> '$.tunnel_key') WHERE tunnel IS NOT NULL;
  CREATE TABLE snapshots (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    source_devbox_id TEXT NOT NULL REFERENCES devboxes (id),
    status TEXT NOT NULL,
    error_message TEXT,
    create_time_ms INTEGER NOT NULL,
    name TEXT,
    commit_message TEXT,
    metadata TEXT NOT NULL,
    size_bytes INTEGER
  ) STRICT;
  CREATE INDEX snapshots_by_account ON snapshots (account, seq);
  CREATE INDEX snapshots_by_devbox ON snapshots (source_devbox_id, seq);
  ${metadataOf('snapshots', 'snapshot_metadata')}
  CREATE TABLE secrets (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    sealed_value BLOB NOT NULL,
    create_time_ms INTEGER NOT NULL,
    update_time_ms INTEGER NOT NULL,
    UNIQUE (account, name)
  ) STRICT;
  CREATE TABLE network_policies (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    create_time_ms INTEGER NOT NULL,
    update_time_ms INTEGER NOT NULL,
    egress TEXT NOT NULL
  ) STRICT;
  CREATE INDEX network_policies_by_account ON network_policies (account, seq);
  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    name TEXT,
    digest BLOB NOT NULL UNIQUE,
    create_time_ms INTEGER NOT NULL,
    revoke_time_ms INTEGER
  ) STRICT;
  `,
  // Search by a part of id or name runs on trigrams, in the order of the list; the text itself is in `axons` alone. An
  // axon's id and name never change, so nothing is ever taken from the index. A prefix too short for it has its own two.
  `
  CREATE TABLE axon_accounts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE VIRTUAL TABLE axon_search USING fts5 (
    account, id, name, content = '', columnsize = 0, tokenize = 'trigram case_sensitive 1'
  );
  INSERT INTO axon_accounts (account) SELECT DISTINCT account FROM axons ORDER BY account;
  INSERT INTO axon_search (rowid, account, id, name)
    SELECT seq, account_tag(number), search_text(id), search_text(name)
    FROM axons JOIN axon_accounts USING (account) ORDER BY seq;
  CREATE INDEX axons_by_first_letter ON axons (account, substr(name, 1, 1), seq);
  CREATE INDEX axons_by_first_letters ON axons (account, substr(name, 1, 2), seq);
  CREATE TABLE axon_events (
    axon INTEGER NOT NULL REFERENCES axons (seq),
    sequence INTEGER NOT NULL,
    timestamp_ms INTEGER NOT NULL,
    origin TEXT NOT NULL,
    source TEXT NOT NULL,
    event_type TEXT NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (axon, sequence)
  ) STRICT, WITHOUT ROWID;
  `,
  // The metadata tables hold what a list shows: an archived definition leaves them. What a run counts is never stored
  // beside the runs: it is read from their rows. `outcome` to `replaced` and the columns from job_id on are for jobs.
  `
  CREATE TABLE scenarios (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    hidden INTEGER NOT NULL DEFAULT 0,
    create_time_ms INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    input_context TEXT NOT NULL,
    scoring_contract TEXT NOT NULL,
    environment TEXT,
    reference_output TEXT,
    required_environment_variables TEXT,
    required_secret_names TEXT,
    scorer_timeout_sec INTEGER,
    validation_type TEXT
  ) STRICT;
  CREATE INDEX scenarios_by_account ON scenarios (account, seq);
  ${metadataOf('scenarios', 'scenario_metadata')}
  CREATE TABLE scorers (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    type TEXT NOT NULL,
    bash_script TEXT NOT NULL,
    UNIQUE (account, type)
  ) STRICT;
  CREATE INDEX scorers_by_account ON scorers (account, seq);
  CREATE TABLE benchmarks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    create_time_ms INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    attribution TEXT,
    description TEXT,
    required_environment_variables TEXT,
    required_secret_names TEXT
  ) STRICT;
  CREATE INDEX benchmarks_by_account ON benchmarks (account, seq);
  ${metadataOf('benchmarks', 'benchmark_metadata')}
  CREATE TABLE benchmark_scenarios (
    benchmark INTEGER NOT NULL REFERENCES benchmarks (seq),
    scenario INTEGER NOT NULL REFERENCES scenarios (seq),
    position INTEGER NOT NULL,
    PRIMARY KEY (benchmark, scenario)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE benchmark_jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    create_time_ms INTEGER NOT NULL,
    end_time_ms INTEGER,
    metadata TEXT NOT NULL,
    source TEXT,
    spec TEXT,
    plan TEXT,
    failure_reason TEXT
  ) STRICT;
  CREATE INDEX benchmark_jobs_by_account ON benchmark_jobs (account, seq);
  CREATE UNIQUE INDEX benchmark_jobs_by_name ON benchmark_jobs (account, name);
  CREATE INDEX benchmark_jobs_unended ON benchmark_jobs (seq) WHERE end_time_ms IS NULL;
  CREATE TABLE benchmark_runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    benchmark_id TEXT,
    name TEXT,
    state TEXT NOT NULL,
    start_time_ms INTEGER NOT NULL,
    end_time_ms INTEGER,
    score REAL,
    metadata TEXT NOT NULL,
    profile TEXT NOT NULL,
    job_id TEXT REFERENCES benchmark_jobs (id),
    agent_index INTEGER,
    agent TEXT
  ) STRICT;
  CREATE INDEX benchmark_runs_by_account ON benchmark_runs (account, seq);
  CREATE INDEX benchmark_runs_by_benchmark ON benchmark_runs (benchmark_id, seq);
  CREATE UNIQUE INDEX benchmark_runs_by_job ON benchmark_runs (job_id, agent_index) WHERE job_id IS NOT NULL;
  ${metadataOf('benchmark_runs', 'benchmark_run_metadata')}
  CREATE TABLE scenario_runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    scenario_id TEXT NOT NULL,
    scenario_name TEXT NOT NULL,
    benchmark_run_id TEXT REFERENCES benchmark_runs (id),
    devbox_id TEXT,
    name TEXT,
    state TEXT NOT NULL,
    start_time_ms INTEGER NOT NULL,
    end_time_ms INTEGER,
    metadata TEXT NOT NULL,
    profile TEXT NOT NULL,
    score REAL,
    scoring_contract_result TEXT,
    outcome TEXT,
    failure TEXT,
    attempt INTEGER,
    retry INTEGER,
    replaced INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX scenario_runs_by_account ON scenario_runs (account, seq);
  CREATE INDEX scenario_runs_by_scenario ON scenario_runs (scenario_id, seq);
  CREATE INDEX scenario_runs_by_benchmark_run ON scenario_runs (benchmark_run_id, seq)
    WHERE benchmark_run_id IS NOT NULL;
  CREATE UNIQUE INDEX scenario_runs_by_devbox ON scenario_runs (devbox_id) WHERE devbox_id IS NOT NULL;
  CREATE INDEX scenario_runs_unended ON scenario_runs (seq) WHERE end_time_ms IS NULL;
  ${metadataOf('scenario_runs', 'scenario_run_metadata')}
  `,
  // For events that were heard before they were on the disk. The one row of power_cuts counts how often such events may
  // have been lost, and names the boot of the machine in which that may happen again.
  `
  CREATE TABLE axon_sequences (
    axon INTEGER PRIMARY KEY REFERENCES axons (seq),
    first INTEGER NOT NULL,
    reserved INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    power_cuts INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE power_cuts (count INTEGER NOT NULL, boot_id TEXT) STRICT;
  INSERT INTO power_cuts VALUES (0, NULL);
  `,
  // Events are heard once they are on the disk, so that sequences have no new gaps. What is known of the old ones stays:
  // the last sequence that may have been heard of, and how many stand for no event. After a service that was killed all
  // that it had reserved may have been heard.
  `
  CREATE TABLE axon_gaps (
    axon INTEGER PRIMARY KEY REFERENCES axons (seq),
    last INTEGER NOT NULL,
    missing INTEGER NOT NULL
  ) STRICT;
  INSERT INTO axon_gaps
    SELECT axon, heard, skipped + heard - known
    FROM (
      SELECT *, iif(power_cuts = count AND boot_id IS NULL, known, max(known, reserved)) AS heard
      FROM (
        SELECT *, max(first - 1, coalesce((SELECT max(sequence) FROM axon_events AS e WHERE e.axon = s.axon), 0)) AS known
        FROM axon_sequences AS s CROSS JOIN power_cuts
      )
    )
    WHERE skipped + heard - known > 0;
  DROP TABLE axon_sequences;
  DROP TABLE power_cuts;
  -- The names are walked on their own index.
  DROP INDEX axons_by_first_letter;
  DROP INDEX axons_by_first_letters;
  `,
  `
  ALTER TABLE scenario_runs ADD COLUMN warnings TEXT;
  ALTER TABLE scenario_runs ADD COLUMN environment_differs INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE benchmark_jobs ADD COLUMN warnings TEXT NOT NULL DEFAULT '[]';
  `,
  `
  ALTER TABLE scenario_runs ADD COLUMN agent_record TEXT;
  `,
  // Imported trials had neither a name nor a result.
  `
  ALTER TABLE scenario_runs ADD COLUMN rewards TEXT;
  ALTER TABLE benchmark_runs ADD COLUMN planned_trials INTEGER;
  ALTER TABLE benchmark_jobs ADD COLUMN metrics TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE benchmark_jobs ADD COLUMN judged_metric TEXT;
  ALTER TABLE benchmark_jobs ADD COLUMN settings TEXT;
  UPDATE scenario_runs SET name = scenario_name WHERE attempt IS NOT NULL AND name IS NULL;
  UPDATE scenario_runs SET scoring_contract_result = json_object('score', score, 'scoring_function_results', json_array())
    WHERE attempt IS NOT NULL AND scoring_contract_result IS NULL AND score IS NOT NULL;
  `,
]
