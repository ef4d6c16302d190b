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
  CREATE TABLE axon_metadata (
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES axons (seq),
    PRIMARY KEY (account, key, value, seq)
  ) STRICT, WITHOUT ROWID;
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
  CREATE TABLE devbox_metadata (
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES devboxes (seq),
    PRIMARY KEY (account, key, value, seq)
  ) STRICT, WITHOUT ROWID;
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
  CREATE TABLE snapshot_metadata (
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES snapshots (seq),
    PRIMARY KEY (account, key, value, seq)
  ) STRICT, WITHOUT ROWID;
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
]
