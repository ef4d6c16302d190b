import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { compact, eventStream, Failure, type Json, newId, page, type Routes } from './http.ts'

interface Axon {
  record: Json
  events: Json[]
  database: DatabaseSync
  followers: Set<(event: Json) => void>
}

const idleMs = 5_000

export const axonRoutes = (): { routes: Routes; seed: () => void; close: () => void } => {
  const axons = new Map<string, Axon>()
  const create = ({ name, metadata }: Json): Axon => {
    const id = newId()
    const database = new DatabaseSync(':memory:')
    database.exec(
      'CREATE TABLE rl_axon_events (sequence INTEGER, timestamp_ms INTEGER, origin INTEGER, source TEXT, event_type TEXT, payload TEXT)',
    )
    const record = compact({ id, name, metadata: metadata ?? {}, created_at_ms: Date.now(), region: 'us-9' })
    const axon = { record, events: [], database, followers: new Set<(event: Json) => void>() }
    axons.set(id, axon)
    return axon
  }
  const publish = (axon: Axon, { event_type, origin, payload, source }: Json) => {
    const event: Json = {
      axon_id: axon.record.id,
      sequence: axon.events.length,
      timestamp_ms: Date.now(),
      event_type,
      origin,
      payload,
      source,
      shard: 3,
    }
    axon.events.push(event)
    axon.database
      .prepare('INSERT INTO rl_axon_events VALUES (?, ?, ?, ?, ?, ?)')
      .run(axon.events.length - 1, Date.now(), 1, String(source), String(event_type), String(payload))
    for (const follow of axon.followers) follow(event)
    return event
  }
  const get = (id = ''): Axon => {
    const axon = axons.get(id)
    if (!axon) throw new Failure(404, 'Axon not found')
    return axon
  }
  const run = (axon: Axon, sql: string, params: unknown): Json => {
    try {
      const statement = axon.database.prepare(sql)
      const columns = statement.columns().map(({ name }) => ({ name, type: '' }))
      const values = (Array.isArray(params) ? params : []) as SQLInputValue[]
      const rows = columns.length > 0 ? statement.all(...values).map((row) => Object.values(row)) : []
      if (columns.length === 0) statement.run(...values)
      return { columns, rows, meta: { changes: 0, duration_ms: 0.4, rows_read_limit_reached: false, replica: 'b' } }
    } catch (error) {
      throw new Failure(400, (error as Error).message)
    }
  }
  return {
    close: () => {
      for (const { database } of axons.values()) database.close()
    },
    seed: () => {
      for (let i = 0; i < 12; i++) {
        const axon = create({ name: i % 4 === 3 ? undefined : `orders ${i}`, metadata: i % 2 ? { env: 'prod' } : {} })
        for (let n = 0; n < i; n++)
          publish(axon, {
            event_type: n % 5 === 4 ? 'quantum.flux' : 'note',
            origin: n % 5 === 4 ? 'ORACLE_EVENT' : 'USER_EVENT',
            source: 'seed',
            payload: n % 3 === 0 ? 'not json' : JSON.stringify({ n }),
          })
      }
    },
    routes: {
      'GET /v1/axons': ({ query }) => {
        const [name, search] = [query.get('name'), query.get('search')]
        const rows = [...axons.values()].map(({ record }) => record).reverse()
        const matching = rows.filter(
          (row) =>
            (!name || String(row.name ?? '').startsWith(name)) &&
            (!search || `${row.id} ${row.name ?? ''}`.includes(search)),
        )
        return page('axons', matching, query)
      },
      'POST /v1/axons': ({ body }) => create(body).record,
      'GET /v1/axons/*': ({ at: [id] }) => get(id).record,
      'POST /v1/axons/*': ({ at: [id], body }) => Object.assign(get(id).record, compact({ metadata: body.metadata })),
      'DELETE /v1/axons/*': ({ at: [id] }) => {
        get(id)
        axons.delete(id ?? '')
        return {}
      },
      'POST /v1/axons/*/publish': ({ at: [id], body }) => {
        const { sequence, timestamp_ms } = publish(get(id), body)
        return { sequence, timestamp_ms }
      },
      'GET /v1/axons/*/events': ({ at: [id], query }) =>
        page('events', [...get(id).events].reverse(), query, ({ sequence }) => sequence),
      'GET /v1/axons/*/subscribe/sse': (call) => {
        const axon = get(call.at[0])
        const after = Number(call.query.get('after_sequence') ?? -1)
        const stream = eventStream(call, idleMs)
        for (const event of axon.events) if (Number(event.sequence) > after) stream.send(event)
        axon.followers.add(stream.send)
        void stream.closed.then(() => axon.followers.delete(stream.send))
      },
      'POST /v1/axons/*/sql/query': ({ at: [id], body }) => run(get(id), String(body.sql), body.params),
      'POST /v1/axons/*/sql/batch': ({ at: [id], body }) => ({
        results: (body.statements as Json[]).map(({ sql, params }) => {
          try {
            return { success: run(get(id), String(sql), params) }
          } catch (error) {
            return { error: { message: (error as Error).message } }
          }
        }),
      }),
    },
  }
}
