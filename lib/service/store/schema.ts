const metadataIndex = (table: string, index: string) => `CREATE TABLE ${index} (
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES ${table} (seq),
    PRIMARY KEY (account, key, value, seq)
  ) STRICT, WITHOUT ROWID;`

/** Rowids follow creation, so "newest first" is the order of the table itself. */
const record = 'seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, account TEXT NOT NULL'

/** The schema of release 0.1.0. It never changes: add a migration instead. */
export const schema = `
  CREATE TABLE axons (
    ${record},
    name TEXT,
    created_at_ms INTEGER NOT NULL,
    deleted_at_ms INTEGER,
    metadata TEXT NOT NULL
  ) STRICT;
  CREATE INDEX axons_by_account ON axons (account, seq);
  CREATE INDEX axons_by_name ON axons (account, name, seq);
  ${metadataIndex('axons', 'axon_metadata')}
  CREATE TABLE axon_accounts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL UNIQUE
  ) STRICT;
  -- An axon's id and name never change, so the index needs no delete and no copy of the text.
  CREATE VIRTUAL TABLE axon_search USING fts5 (
    account, id, name, content = '', columnsize = 0, tokenize = 'trigram case_sensitive 1'
  );
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

  CREATE TABLE devboxes (
    ${record},
    name TEXT,
    status TEXT NOT NULL,
    create_time_ms INTEGER NOT NULL,
    end_time_ms INTEGER,
    launch_parameters TEXT NOT NULL,
    environment_variables TEXT NOT NULL,
    secrets TEXT NOT NULL DEFAULT '{}',
    entrypoint TEXT,
    metadata TEXT NOT NULL,
    state_transitions TEXT NOT NULL,
    tunnel TEXT,
    failure_reason TEXT,
    shutdown_reason TEXT,
    keep_alive_until_ms INTEGER,
    last_used_ms INTEGER,
    snapshot_id TEXT,
    isolation TEXT,
    initiator_type TEXT NOT NULL DEFAULT 'api',
    initiator_id TEXT
  ) STRICT;
  CREATE INDEX devboxes_by_account ON devboxes (account, seq);
  CREATE INDEX devboxes_by_status ON devboxes (account, status, seq);
  CREATE UNIQUE INDEX devboxes_by_tunnel ON devboxes (tunnel ->> '$.tunnel_key') WHERE tunnel IS NOT NULL;
  ${metadataIndex('devboxes', 'devbox_metadata')}
  CREATE TABLE executions (
    id TEXT NOT NULL,
    devbox_id TEXT NOT NULL REFERENCES devboxes (id),
    command TEXT NOT NULL,
    shell_name TEXT,
    status TEXT NOT NULL,
    exit_status INTEGER,
    create_time_ms INTEGER NOT NULL,
    end_time_ms INTEGER,
    request_id TEXT,
    stdout_cut INTEGER NOT NULL DEFAULT 0,
    stderr_cut INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (devbox_id, id)
  ) STRICT;
  CREATE INDEX executions_unfinished ON executions (status) WHERE status <> 'completed';
  CREATE INDEX executions_by_request ON executions (devbox_id, request_id) WHERE request_id IS NOT NULL;
  CREATE TABLE evictions (
    devbox_id TEXT PRIMARY KEY REFERENCES devboxes (id),
    account TEXT NOT NULL,
    eviction_deadline_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE snapshots (
    ${record},
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
  ${metadataIndex('snapshots', 'snapshot_metadata')}
  CREATE TABLE secrets (
    ${record},
    name TEXT NOT NULL,
    sealed_value BLOB NOT NULL,
    create_time_ms INTEGER NOT NULL,
    update_time_ms INTEGER NOT NULL,
    UNIQUE (account, name)
  ) STRICT;
  CREATE TABLE network_policies (
    ${record},
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

  -- Archived scenarios and benchmarks have no entries in the metadata indexes.
  CREATE TABLE scenarios (
    ${record},
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
  ${metadataIndex('scenarios', 'scenario_metadata')}
  CREATE TABLE scorers (
    ${record},
    type TEXT NOT NULL,
    bash_script TEXT NOT NULL,
    UNIQUE (account, type)
  ) STRICT;
  CREATE INDEX scorers_by_account ON scorers (account, seq);
  CREATE TABLE benchmarks (
    ${record},
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
  ${metadataIndex('benchmarks', 'benchmark_metadata')}
  CREATE TABLE benchmark_scenarios (
    benchmark INTEGER NOT NULL REFERENCES benchmarks (seq),
    scenario INTEGER NOT NULL REFERENCES scenarios (seq),
    position INTEGER NOT NULL,
    PRIMARY KEY (benchmark, scenario)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE benchmark_jobs (
    ${record},
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    create_time_ms INTEGER NOT NULL,
    end_time_ms INTEGER,
    metadata TEXT NOT NULL,
    source TEXT,
    spec TEXT,
    plan TEXT,
    failure_reason TEXT,
    warnings TEXT NOT NULL DEFAULT '[]',
    metrics TEXT NOT NULL DEFAULT '[]',
    judged_metric TEXT,
    settings TEXT
  ) STRICT;
  CREATE INDEX benchmark_jobs_by_account ON benchmark_jobs (account, seq);
  CREATE UNIQUE INDEX benchmark_jobs_by_name ON benchmark_jobs (account, name);
  CREATE INDEX benchmark_jobs_unended ON benchmark_jobs (seq) WHERE end_time_ms IS NULL;
  CREATE TABLE benchmark_runs (
    ${record},
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
    agent TEXT,
    planned_trials INTEGER
  ) STRICT;
  CREATE INDEX benchmark_runs_by_account ON benchmark_runs (account, seq);
  CREATE INDEX benchmark_runs_by_benchmark ON benchmark_runs (benchmark_id, seq);
  CREATE UNIQUE INDEX benchmark_runs_by_job ON benchmark_runs (job_id, agent_index) WHERE job_id IS NOT NULL;
  ${metadataIndex('benchmark_runs', 'benchmark_run_metadata')}
  -- From outcome on, the columns are of trials.
  CREATE TABLE scenario_runs (
    ${record},
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
    replaced INTEGER NOT NULL DEFAULT 0,
    warnings TEXT,
    environment_differs INTEGER NOT NULL DEFAULT 0,
    agent_record TEXT,
    rewards TEXT
  ) STRICT;
  CREATE INDEX scenario_runs_by_account ON scenario_runs (account, seq);
  CREATE INDEX scenario_runs_by_scenario ON scenario_runs (scenario_id, seq);
  CREATE INDEX scenario_runs_by_benchmark_run ON scenario_runs (benchmark_run_id, seq)
    WHERE benchmark_run_id IS NOT NULL;
  CREATE UNIQUE INDEX scenario_runs_by_devbox ON scenario_runs (devbox_id) WHERE devbox_id IS NOT NULL;
  CREATE INDEX scenario_runs_unended ON scenario_runs (seq) WHERE end_time_ms IS NULL;
  ${metadataIndex('scenario_runs', 'scenario_run_metadata')}
`

/** Version of `schema`: pre-releases used the numbers below it. */
export const firstVersion = 10

const countVersion = (rows: string) =>
  `INSERT INTO job_versions ${rows} ON CONFLICT (job_id) DO UPDATE SET version = version + 1;`
const jobOfTrial = (row: 'NEW' | 'OLD') =>
  `SELECT job_id, 1 FROM benchmark_runs WHERE id = ${row}.benchmark_run_id AND job_id IS NOT NULL`

/** Each brings the schema to the next version. A released migration never changes. */
export const migrations: readonly string[] = [
  `CREATE TABLE gateway_configs (
    ${record},
    name TEXT NOT NULL,
    description TEXT,
    create_time_ms INTEGER NOT NULL,
    endpoint TEXT NOT NULL,
    auth_mechanism TEXT NOT NULL,
    custom_headers TEXT
  ) STRICT;
  CREATE INDEX gateway_configs_by_account ON gateway_configs (account, seq);
  CREATE TABLE mcp_configs (
    ${record},
    name TEXT NOT NULL,
    description TEXT,
    create_time_ms INTEGER NOT NULL,
    endpoint TEXT NOT NULL,
    auth_mechanism TEXT NOT NULL,
    custom_headers TEXT,
    allowed_tools TEXT NOT NULL
  ) STRICT;
  CREATE INDEX mcp_configs_by_account ON mcp_configs (account, seq);`,
  `CREATE TABLE objects (
    ${record},
    name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    state TEXT NOT NULL,
    create_time_ms INTEGER NOT NULL,
    delete_after_time_ms INTEGER,
    metadata TEXT NOT NULL,
    size_bytes INTEGER,
    link_key TEXT NOT NULL
  ) STRICT;
  CREATE INDEX objects_by_account ON objects (account, seq);
  CREATE INDEX objects_by_expiry ON objects (delete_after_time_ms)
    WHERE delete_after_time_ms IS NOT NULL AND state <> 'DELETED';
  ${metadataIndex('objects', 'object_metadata')}`,
  `ALTER TABLE api_keys ADD COLUMN expires_at_ms INTEGER;
  ALTER TABLE api_keys ADD COLUMN scopes TEXT;
  ALTER TABLE api_keys ADD COLUMN parent_id TEXT;
  ALTER TABLE api_keys ADD COLUMN is_from_api INTEGER NOT NULL DEFAULT 0;`,
  `CREATE TABLE agents (
    ${record},
    name TEXT NOT NULL,
    create_time_ms INTEGER NOT NULL,
    version TEXT,
    source TEXT
  ) STRICT;
  CREATE INDEX agents_by_account ON agents (account, seq);
  CREATE INDEX agents_by_name ON agents (account, name, seq);
  ALTER TABLE devboxes ADD COLUMN agent_names TEXT NOT NULL DEFAULT '[]';`,
  `
  CREATE TABLE blueprints (
    ${record},
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    status TEXT NOT NULL,
    create_time_ms INTEGER NOT NULL,
    build_finish_time_ms INTEGER,
    parameters TEXT NOT NULL,
    metadata TEXT NOT NULL,
    base_blueprint_id TEXT,
    failure_reason TEXT,
    failure_message TEXT,
    image TEXT,
    size_bytes INTEGER
  ) STRICT;
  CREATE INDEX blueprints_by_account ON blueprints (account, seq);
  CREATE INDEX blueprints_by_name ON blueprints (account, name, seq);
  ${metadataIndex('blueprints', 'blueprint_metadata')}
  ALTER TABLE devboxes ADD COLUMN blueprint_id TEXT;
  ALTER TABLE devboxes ADD COLUMN image TEXT;
  ALTER TABLE snapshots ADD COLUMN source_blueprint_id TEXT;
  CREATE INDEX devboxes_by_blueprint ON devboxes (blueprint_id) WHERE blueprint_id IS NOT NULL;
  CREATE INDEX snapshots_by_blueprint ON snapshots (source_blueprint_id) WHERE source_blueprint_id IS NOT NULL;
  `,
  `ALTER TABLE devboxes ADD COLUMN engine TEXT NOT NULL DEFAULT 'local';
  ALTER TABLE snapshots ADD COLUMN engine TEXT NOT NULL DEFAULT 'local';`,
  'ALTER TABLE scenario_runs ADD COLUMN engine TEXT',
  `ALTER TABLE devboxes ADD COLUMN node TEXT;
  CREATE INDEX devboxes_by_node ON devboxes (node ->> '$.id') WHERE node IS NOT NULL;`,
  `CREATE TABLE node_drains (
    node_id TEXT PRIMARY KEY,
    deadline_ms INTEGER NOT NULL
  ) STRICT;`,
  `ALTER TABLE executions ADD COLUMN attach_stdin INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE terminals (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    devbox_id TEXT NOT NULL,
    name TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE job_versions (
    job_id TEXT PRIMARY KEY,
    version INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER job_changed AFTER UPDATE ON benchmark_jobs BEGIN ${countVersion('VALUES (NEW.id, 1)')} END;
  CREATE TRIGGER job_run_added AFTER INSERT ON benchmark_runs WHEN NEW.job_id IS NOT NULL BEGIN
    ${countVersion('VALUES (NEW.job_id, 1)')} END;
  CREATE TRIGGER job_run_changed AFTER UPDATE ON benchmark_runs WHEN NEW.job_id IS NOT NULL BEGIN
    ${countVersion('VALUES (NEW.job_id, 1)')} END;
  CREATE TRIGGER job_trial_added AFTER INSERT ON scenario_runs WHEN NEW.benchmark_run_id IS NOT NULL BEGIN
    ${countVersion(jobOfTrial('NEW'))} END;
  CREATE TRIGGER job_trial_changed AFTER UPDATE ON scenario_runs WHEN NEW.benchmark_run_id IS NOT NULL BEGIN
    ${countVersion(jobOfTrial('NEW'))} END;
  CREATE TRIGGER job_trial_removed AFTER DELETE ON scenario_runs WHEN OLD.benchmark_run_id IS NOT NULL BEGIN
    ${countVersion(jobOfTrial('OLD'))} END;`,
  `CREATE INDEX devboxes_by_end ON devboxes (end_time_ms) WHERE end_time_ms IS NOT NULL;
  CREATE INDEX executions_by_end ON executions (end_time_ms) WHERE end_time_ms IS NOT NULL;
  CREATE INDEX benchmark_jobs_by_end ON benchmark_jobs (end_time_ms) WHERE end_time_ms IS NOT NULL;
  CREATE INDEX benchmark_runs_by_end ON benchmark_runs (end_time_ms) WHERE job_id IS NULL AND end_time_ms IS NOT NULL;
  CREATE INDEX scenario_runs_by_end ON scenario_runs (end_time_ms) WHERE end_time_ms IS NOT NULL;`,
  // For sorted lists. At 100,000 devboxes, the first page takes 1 ms instead of 30 to 100.
  ['devboxes', 'snapshots', 'scenarios', 'benchmark_jobs', 'benchmark_runs']
    .map((table) => `CREATE INDEX ${table}_sorted_by_name ON ${table} (account, name COLLATE NOCASE, seq DESC);`)
    .join('\n') +
    `
  CREATE INDEX devboxes_sorted_by_start ON devboxes (account, create_time_ms, seq DESC);
  CREATE INDEX devboxes_sorted_by_end ON devboxes (account, end_time_ms, seq DESC);
  CREATE INDEX benchmark_runs_sorted_by_start ON benchmark_runs (account, nullif(start_time_ms, 0), seq DESC);
  CREATE INDEX benchmark_runs_sorted_by_score ON benchmark_runs (account, score, seq DESC);`,
]

export const schemaVersion = firstVersion + migrations.length
