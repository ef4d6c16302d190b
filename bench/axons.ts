import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Axon, AxonListQuery } from '#lib/contract/axons.ts'
import { parseQuery } from '#lib/contract/query-string.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { createAxonStore } from '#lib/service/store/axons/axons.ts'
import { createAxonLists } from '#lib/service/store/axons/lists.ts'
import { databaseName } from '#lib/service/store/data-dir.ts'
import { openDatabase } from '#lib/service/store/database.ts'
import { fillAxons } from '#lib/service/testing/axons.ts'
import { startService } from '#lib/service/testing/service.ts'
import { benchAxonEvents } from './axon-events.ts'

const size = 1_000_000
const deep = 900_000

const axonAt = (i: number): Axon => ({
  id: newId('axn'),
  name: `${['build', 'deploy', 'train', 'review'][i % 4]}-${i}`,
  created_at_ms: Date.now(),
  deleted_at_ms: null,
  metadata: {
    env: ['prod', 'staging', 'dev', 'test', 'demo'][i % 5] ?? '',
    team: `t${i % 12}`,
    run: `r${i}`,
  },
})

const searches: Record<string, string> = {
  'first page': '',
  [`page at row ${deep}`]: 'at=deep',
  'name prefix': 'name=deploy-77',
  'two metadata filters': 'metadata[env]=prod&metadata[team]=t5',
  'rare value': 'metadata[run]=r4711',
  '[in] of three': 'metadata[env][in]=prod,dev,demo',
  search: 'search=oy-123',
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number
const microseconds = (start: number) => (performance.now() - start) * 1000

/** Uses one keep-alive connection. */
const getter = (url: string, key: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const { hostname, port } = new URL(url)
  const headers = { authorization: `Bearer ${key}` }
  return (path: string) =>
    new Promise<Buffer>((resolve, reject) => {
      const outgoing = request({ hostname, port, path, headers, agent }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('end', () =>
          response.statusCode === 200
            ? resolve(Buffer.concat(chunks))
            : reject(new Error(`${path} returned ${response.statusCode}`)),
        )
      })
      outgoing.once('error', reject).end()
    })
}

export const benchAxons = async () => {
  await benchAxonRecords()
  await benchAxonEvents()
}

/** Lists over a million axons, each request alternating with the same statement in this process. */
const benchAxonRecords = async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-bench-'))
  const file = join(dataDir, databaseName)
  const start = performance.now()
  const ids = fill(file)
  console.log(
    `axons: ${size.toLocaleString('en-US')} with three metadata keys each, made in ${((performance.now() - start) / 1000).toFixed(0)} s`,
  )
  const service = await startService({ isolation: 'none', validateResponses: false, dataDir })
  const database = openDatabase(file)
  const store = createAxonStore(database)
  const lists = createAxonLists(database)
  try {
    const get = getter(service.url, service.key)
    const floor = getter(service.url, service.key)
    const cursor = ids[size - deep] as string
    const read = (search: string) => {
      const parsed = parseQuery(AxonListQuery, search)
      if (!parsed.ok) throw new Error(search)
      return parsed.value
    }
    for (let i = 0; i < 1_000; i++) await get('/v1/axons')
    const medians = new Map<string, number>()
    console.log('axon list over HTTP, p50 in µs; goal: at most 3x the statement in process + 60 µs')
    for (const [name, search] of Object.entries(searches)) {
      const query = read(search === 'at=deep' ? `starting_after=${cursor}` : search)
      const path = `/v1/axons?${search === 'at=deep' ? `starting_after=${cursor}` : search}`
      const inProcess = () => {
        const { starting_after: after } = query
        const before = after === undefined ? undefined : store.position('test', after)
        return lists.list({ account: 'test', query, before, version: 0 })
      }
      const [calls, statements, health]: [number[], number[], number[]] = [[], [], []]
      await service.client.axons.create({ body: { name: 'change' } })
      const changed = performance.now()
      await get(path)
      const afterChange = microseconds(changed)
      for (let i = 0; i < 400; i++) {
        let from = performance.now()
        await get(path)
        calls.push(microseconds(from))
        from = performance.now()
        inProcess()
        statements.push(microseconds(from))
        from = performance.now()
        await floor('/healthz')
        health.push(microseconds(from))
      }
      const [http, sql, bare] = [median(calls.slice(50)), median(statements.slice(50)), median(health.slice(50))]
      medians.set(name, http)
      const bound = 3 * sql + 60
      console.log(
        `  ${name.padEnd(22)} ${row(http)} / (3 x ${row(sql)} + 60) = ${(http / bound).toFixed(2)}   a call for nothing ${row(bare)}  the first after a change ${row(afterChange)}`,
      )
    }
    const first = medians.get('first page') as number
    console.log(
      `  page at row ${deep} / first page = ${((medians.get(`page at row ${deep}`) as number) / first).toFixed(2)}, goal 1.2`,
    )
    const [calls, parses]: [number[], number[]] = [[], []]
    for (let i = 0; i < 60; i++) {
      let from = performance.now()
      const body = await get('/v1/axons?limit=5000')
      calls.push(microseconds(from))
      const text = body.toString()
      from = performance.now()
      JSON.parse(text)
      parses.push(microseconds(from))
    }
    const [http, parse] = [median(calls.slice(10)), median(parses.slice(10))]
    console.log(
      `  page of 5,000          ${row(http)} / JSON.parse ${row(parse)} = ${(http / parse).toFixed(2)}, goal 2`,
    )
    const writes: number[] = []
    for (let i = 0; i < 1_000; i++) {
      const from = performance.now()
      await service.client.axons.create({ body: { name: `late-${i}`, metadata: { env: 'prod', run: `late-${i}` } } })
      writes.push(microseconds(from))
    }
    writes.sort((a, b) => a - b)
    console.log(`  create, over HTTP      ${row(writes[500] ?? 0)} p50, ${row(writes[990] ?? 0)} p99`)
  } finally {
    database.close()
    await service.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const row = (value: number) => value.toFixed(0).padStart(6)

/** Oldest first. */
const fill = (file: string): string[] => {
  const database = openDatabase(file)
  // Data loss is acceptable here.
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -300000; PRAGMA wal_autocheckpoint = 20000')
  const ids: string[] = []
  const chunk = 100_000
  for (let from = 0; from < size; from += chunk) {
    const axons = Array.from({ length: chunk }, (_, i) => axonAt(from + i))
    for (const { id } of axons) ids.push(id)
    fillAxons(database, 'test', axons)
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  return ids
}
