import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { maxDatabaseBytes, maxRows } from '#lib/service/axons/axon-sql/protocol.ts'
import { startService, statusOf } from '#lib/service/testing/service.ts'

const service = await startService({ isolation: 'none' })
afterAll(() => service.close())
let id: string
beforeAll(async () => {
  id = await newAxon()
})

const newAxon = async () => (await service.client.axons.create({ body: { name: 'sql' } })).id
const query = (sql: string, params?: unknown[], axon = id) =>
  service.client.axons.query({ params: { id: axon }, body: { sql, params } })
const batch = (...statements: { sql: string; params?: unknown[] }[]) =>
  service.client.axons.batch({ params: { id }, body: { statements } })
const publish = (axon: string, payload: string) =>
  service.client.axons.publish({
    params: { id: axon },
    body: { event_type: 'note', origin: 'AGENT_EVENT', source: 'test', payload },
  })

describe('POST /v1/axons/{id}/sql/query', () => {
  it('200 returns columns, rows and changes', async () => {
    expect(await query('CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL, d BLOB, e VARCHAR(9), f)')).toEqual({
      columns: [],
      rows: [],
      meta: { changes: 0, duration_ms: expect.any(Number), rows_read_limit_reached: false },
    })
    const insert = 'INSERT INTO t (b, c, d, e, f) VALUES (?, ?, ?, ?, ?)'
    const written = await query(insert, ["it's", 1.5, { base64: 'AAH/' }, null, true])
    expect(written).toMatchObject({ rows: [], meta: { changes: 1 } })
    const read = await query('SELECT *, a + 1 AS next, a AS a FROM t WHERE b = ?', ["it's"])
    expect(read.columns).toEqual([
      { name: 'a', type: 'INTEGER' },
      { name: 'b', type: 'TEXT' },
      { name: 'c', type: 'REAL' },
      { name: 'd', type: 'BLOB' },
      { name: 'e', type: 'TEXT' },
      { name: 'f', type: '' },
      { name: 'next', type: '' },
      { name: 'a', type: 'INTEGER' },
    ])
    expect(read.rows).toEqual([[1, "it's", 1.5, { base64: 'AAH/' }, null, 1, 2, 1]])
    expect(await query('UPDATE t SET c = 2 RETURNING a, c')).toMatchObject({ rows: [[1, 2]], meta: { changes: 1 } })
    expect(await query('DELETE FROM t')).toMatchObject({ meta: { changes: 1 } })
  })

  it('200 encodes values that JSON lacks', async () => {
    const { rows } = await query("SELECT 9007199254740991, 9007199254740993, -9223372036854775808, x'00ff'")
    expect(rows).toEqual([[9007199254740991, '9007199254740993', '-9223372036854775808', { base64: 'AP8=' }]])
    const infinite = await query('SELECT 1e400, -1e400, typeof(1e400), 1e400 - 1e400')
    expect(infinite.rows).toEqual([['Infinity', '-Infinity', 'real', null]])
  })

  it('200 stops at the row and size limits and reports it', async () => {
    const count = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)'
    const exact = await query(`${count} SELECT i FROM n`, [maxRows])
    expect([exact.rows.length, exact.meta.rows_read_limit_reached]).toEqual([maxRows, false])
    const more = await query(`${count} SELECT i FROM n`, [maxRows + 1])
    expect([more.rows.length, more.meta.rows_read_limit_reached]).toEqual([maxRows, true])
    const large = await query(`${count} SELECT hex(zeroblob(500000)) FROM n`, [100])
    expect(large.rows.length).toBeLessThan(20)
    expect(large.meta.rows_read_limit_reached).toBe(true)
    const escaped = await query(`${count} SELECT replace(hex(zeroblob(500000)), '00', char(1)) FROM n`, [100])
    expect(escaped.rows.length).toBeLessThan(7)
  })

  it.each([
    ['a syntax error', 'SELEC 1', 'syntax error'],
    ['an unknown table', 'SELECT * FROM missing', 'no such table'],
    ['two statements', 'SELECT 1; DROP TABLE t', 'one statement'],
    ['text after a NUL', 'SELECT 1\0; DROP TABLE t', 'one statement'],
    ['no statement', '-- nothing', 'no statement'],
  ])('400 on %s', async (_, sql, message) => {
    await expect(query(sql)).rejects.toMatchObject({
      status: 400,
      field: 'sql',
      message: expect.stringContaining(message),
    })
  })

  it('400 on an invalid or extra parameter', async () => {
    await expect(query('SELECT ?', [[1]])).rejects.toMatchObject({ status: 400, field: 'params.0' })
    await expect(query('SELECT ?', [1, { base64: '?' }])).rejects.toMatchObject({ status: 400, field: 'params.1' })
    expect(await statusOf(query('SELECT ?', [1, 2]))).toBe(400)
    expect((await query('SELECT 1 -- done; \n ; /* really; */')).rows).toEqual([[1]])
  })

  it('409 on writing to the database of a deleted axon', async () => {
    const deleted = await newAxon()
    await query('CREATE TABLE t (a)', [], deleted)
    await publish(deleted, 'before')
    await service.client.axons.delete({ params: { id: deleted } })
    expect((await query('SELECT payload FROM rl_axon_events', [], deleted)).rows).toEqual([['before']])
    for (const sql of ['INSERT INTO t VALUES (1)', 'DROP TABLE t', 'CREATE TABLE u (a)'])
      expect(await statusOf(query(sql, [], deleted))).toBe(409)
    expect((await query('SELECT count(*) FROM t', [], deleted)).rows).toEqual([[0]])
  })
})

describe('forbidden SQL', () => {
  const pragmas = [
    ...['writable_schema = 1', 'journal_mode = DELETE', 'max_page_count = 1000000000', 'temp_store_directory = "/tmp"'],
    ...['database_list', 'hard_heap_limit = 0', 'query_only = OFF', 'page_size = 512', 'wal_checkpoint'],
  ]
  const forbidden = [
    ...pragmas.map((pragma) => `PRAGMA ${pragma}`),
    ...['VACUUM', 'BEGIN', 'COMMIT', 'ROLLBACK', 'DETACH main', "ATTACH 'devdeck.db' AS x", "ATTACH ':memory:' AS x"],
    ...["VACUUM INTO '/tmp/devdeck-escape.db'", 'SELECT * FROM pragma_database_list', "SELECT load_extension('x')"],
    ...["SELECT readfile('/etc/passwd')", "SELECT writefile('/tmp/devdeck-escape', 'x')"],
    ...["SELECT fts3_tokenizer('simple')", 'CREATE VIRTUAL TABLE x USING dbstat'],
    "CREATE VIRTUAL TABLE x USING csv(filename='/etc/passwd')",
    ...['CREATE TEMP TABLE x (a)', 'CREATE TEMP VIEW rl_axon_events AS SELECT 1'],
    'CREATE TEMP TRIGGER x BEFORE INSERT ON rl_axon_events BEGIN SELECT 1; END',
    "INSERT INTO sqlite_temp_master VALUES ('table', 't', 't', 0, 'x')",
    ...["UPDATE temp.sqlite_master SET sql = 'x'", "UPDATE sqlite_master SET sql = 'x'", 'DELETE FROM sqlite_schema'],
    ...['INSERT', 'REPLACE'].map((word) => `${word} INTO rl_axon_events VALUES (1, 1, 1, 1, 1, 1)`),
    ...["UPDATE RL_AXON_EVENTS SET payload = 'forged'", 'DELETE FROM main.rl_axon_events'],
    ...['DROP TABLE rl_axon_events', 'DROP TABLE "RL_axon_events"', 'ALTER TABLE rl_axon_events RENAME TO mine'],
    ...['ALTER TABLE rl_axon_events ADD COLUMN mine', 'CREATE INDEX mine ON rl_axon_events (payload)'],
    "CREATE TRIGGER mine BEFORE INSERT ON rl_axon_events BEGIN SELECT RAISE(ABORT, 'no'); END",
    ...['CREATE TABLE rl_mine (a)', 'UPDATE rl_copied SET bytes = 0'],
  ]

  it('is rejected, alone and in a batch, and changes nothing', async () => {
    const axon = await newAxon()
    await publish(axon, 'true')
    const allowed: string[] = []
    for (const sql of forbidden) {
      const error = await query(sql, [], axon).catch((thrown: { status: number; field: string }) => thrown)
      const statements = [{ sql: 'CREATE TABLE trace (a)' }, { sql }]
      const { results } = await service.client.axons.batch({ params: { id: axon }, body: { statements } })
      if (!('field' in error) || error.field !== 'sql' || results.some(({ success }) => success)) allowed.push(sql)
    }
    expect(allowed).toEqual([])
    const tables = "SELECT name FROM sqlite_master WHERE name NOT LIKE 'rl\\_%' ESCAPE '\\'"
    expect((await query(tables, [], axon)).rows).toEqual([])
    expect((await query('SELECT payload FROM rl_axon_events', [], axon)).rows).toEqual([['true']])
  })

  it('400 through a view, trigger or renamed table', async () => {
    const axon = await newAxon()
    await publish(axon, 'true')
    await query('CREATE TABLE t (a)', [], axon)
    const trigger = "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE rl_axon_events SET payload = 'forged'; END"
    await query(trigger, [], axon)
    expect(await statusOf(query('INSERT INTO t VALUES (1)', [], axon))).toBe(400)
    await query('CREATE VIEW v AS SELECT * FROM rl_axon_events', [], axon)
    await query('CREATE TRIGGER w INSTEAD OF UPDATE ON v BEGIN DELETE FROM rl_axon_events; END', [], axon)
    expect(await statusOf(query("UPDATE v SET payload = 'x'", [], axon))).toBe(400)
    for (const name of ['rl_axon_events', 'RL_mine'])
      expect(await statusOf(query(`ALTER TABLE t RENAME TO ${name}`, [], axon))).toBe(400)
    await publish(axon, 'also')
    expect((await query('SELECT payload FROM v ORDER BY sequence', [], axon)).rows).toEqual([['true'], ['also']])
  })

  it('408 on an endless statement, without blocking others or damaging the database', async () => {
    const axon = await newAxon()
    await query('CREATE TABLE t (a)', [], axon)
    const forever = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)'
    const runaway = query(`INSERT INTO t ${forever} SELECT max(i) FROM n`, [], axon)
    const timedOut = expect(runaway).rejects.toMatchObject({ status: 408 })
    expect((await query('SELECT 1')).rows).toEqual([[1]])
    expect(await publish(axon, 'meanwhile')).toMatchObject({ sequence: 1 })
    await timedOut
    expect((await query('SELECT count(*) FROM t', [], axon)).rows).toEqual([[0]])
  })

  it('400 on a value that is too large or takes too much memory', async () => {
    const expectError = (sql: string, message: string) =>
      expect(query(sql)).rejects.toMatchObject({ status: 400, message })
    await expectError('SELECT zeroblob(1000000000)', 'sql: string or blob too big')
    const values = Array.from({ length: 100 }, () => "zeroblob(16000000) || ''")
    await expectError(`SELECT ${values}`, 'sql: exceeds the memory limit')
  })

  it('507 on a write beyond the size limit, which keeps earlier data', async () => {
    const axon = await newAxon()
    await query('CREATE TABLE t (a)', [], axon)
    // In pieces, to stay below the time limit.
    const piece =
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 16) INSERT INTO t SELECT zeroblob(1000000) FROM n'
    const pieces = Math.floor(maxDatabaseBytes / 16_000_000)
    for (let i = 0; i < pieces; i++) await query(piece, [], axon)
    expect(await statusOf(query(piece, [], axon))).toBe(507)
    expect((await query('SELECT count(*) FROM t', [], axon)).rows).toEqual([[16 * pieces]])
  })
})

describe('rl_axon_events', () => {
  it('200 has every published event, also in views', async () => {
    const axon = await newAxon()
    for (let i = 1; i <= 5; i++) {
      await publish(axon, `{"n":${i}}`)
      const { rows } = await query('SELECT max(sequence), count(*) FROM rl_axon_events', [], axon)
      expect(rows).toEqual([[i, i]])
    }
    const sql =
      'SELECT sequence, timestamp_ms, origin, source, event_type, payload FROM rl_axon_events ORDER BY sequence DESC LIMIT ? OFFSET ?'
    const { columns, rows } = await query(sql, [2, 1], axon)
    expect(columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'sequence INTEGER',
      'timestamp_ms INTEGER',
      'origin TEXT',
      'source TEXT',
      'event_type TEXT',
      'payload TEXT',
    ])
    expect(rows).toEqual([
      [4, expect.any(Number), 'AGENT_EVENT', 'test', 'note', '{"n":4}'],
      [3, expect.any(Number), 'AGENT_EVENT', 'test', 'note', '{"n":3}'],
    ])
    await query('CREATE VIEW numbers AS SELECT payload ->> ? AS n FROM Rl_Axon_Events'.replace('?', "'$.n'"), [], axon)
    await publish(axon, '{"n":6}')
    expect((await query('SELECT sum(n) FROM numbers', [], axon)).rows).toEqual([[21]])
  })

  it('200 has only the events of its axon, also after a restart', async () => {
    const [one, two] = [await newAxon(), await newAxon()]
    await publish(one, 'one')
    await publish(two, 'two')
    await query('CREATE TABLE kept (a)', [], one)
    await service.restart()
    expect((await query('SELECT payload FROM rl_axon_events', [], one)).rows).toEqual([['one']])
    expect((await query('SELECT payload FROM rl_axon_events', [], two)).rows).toEqual([['two']])
    expect((await query('SELECT count(*) FROM kept', [], one)).rows).toEqual([[0]])
    expect(await statusOf(query('SELECT count(*) FROM kept', [], two))).toBe(400)
  })
})

describe('POST /v1/axons/{id}/sql/batch', () => {
  it('200 runs the statements in one transaction', async () => {
    const { results } = await batch(
      { sql: 'CREATE TABLE b (a INTEGER PRIMARY KEY, n INTEGER CHECK (n > 0))' },
      { sql: 'INSERT INTO b (n) VALUES (?), (?)', params: [1, 2] },
      { sql: 'SELECT a, n FROM b ORDER BY a' },
    )
    expect(results.map(({ success }) => success?.rows)).toEqual([
      [],
      [],
      [
        [1, 1],
        [2, 2],
      ],
    ])
    expect(results[1]?.success?.meta.changes).toBe(2)
  })

  it('200 rolls back all statements when one fails, and reports which', async () => {
    const { results } = await batch(
      { sql: 'INSERT INTO b (n) VALUES (3)' },
      { sql: 'INSERT INTO b (n) VALUES (-1)' },
      { sql: 'INSERT INTO b (n) VALUES (4)' },
    )
    expect(results).toEqual([
      { error: { message: 'Rolled back: statement 2 of the batch failed' } },
      { error: { message: expect.stringContaining('CHECK constraint failed') } },
      { error: { message: 'Not run: statement 2 of the batch failed' } },
    ])
    expect((await query('SELECT count(*) FROM b')).rows).toEqual([[2]])
  })

  it('400 on an empty batch and an invalid parameter', async () => {
    await expect(batch()).rejects.toMatchObject({ status: 400, field: 'statements' })
    await expect(batch({ sql: 'SELECT 1' }, { sql: 'SELECT ?', params: [{}] })).rejects.toMatchObject({
      status: 400,
      field: 'statements.1.params.0',
    })
  })
})

it('runs SQL in a process without the environment', () => {
  const process = readdirSync('/proc').find((pid) => {
    try {
      return readFileSync(join('/proc', pid, 'cmdline'), 'utf8').includes(`axon-sql/process.ts\0${service.dataDir}`)
    } catch {
      return false
    }
  })
  const environment = readFileSync(`/proc/${process}/environ`, 'utf8')
    .split('\0')
    .map((each) => each.split('=')[0])
  expect(environment.filter((name) => !/^(NODE_|DEVDECK_SERVICE_ID$|$)/.test(name ?? ''))).toEqual([])
})
