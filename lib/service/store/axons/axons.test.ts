import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Axon, type AxonList, AxonListQuery } from '#lib/contract/axons.ts'
import { parseQuery } from '#lib/contract/query-string.ts'
import { fillAxons } from '../../testing/axons.ts'
import { type Database, openDatabase } from '../database.ts'
import { metadataKeysSql, metadataValuesSql } from '../table.ts'
import { type AxonStore, createAxonStore } from './axons.ts'
import {
  conditionsOf,
  countStatement,
  createAxonLists,
  linesOf,
  pageStatement,
  probeStatement,
  shortSearchLimit,
} from './lists.ts'

const folder = mkdtempSync(join(tmpdir(), 'devdeck-axons-'))
let database: Database
let store: AxonStore
let lists: ReturnType<typeof createAxonLists>
const made: Axon[] = []
const size = 12_000

const axonAt = (i: number): Axon => ({
  id: `axn_test${String(i * 7919).padStart(9, '0')}`,
  name: i % 50 === 49 ? null : `${['build', 'Deploy', 'trän'][i % 3]}-${i}`,
  created_at_ms: i,
  deleted_at_ms: null,
  metadata: { env: ['prod', 'dev', 'test'][i % 3] ?? '', team: `t${i % 10}`, run: String(i) },
})

beforeAll(() => {
  database = openDatabase(join(folder, 'axons.db'))
  store = createAxonStore(database)
  for (let i = 0; i < size; i++) made.push(axonAt(i))
  fillAxons(database, 'test', made)
  fillAxons(database, 'other', [{ ...axonAt(0), id: 'axn_other', name: 'build-other' }])
  lists = createAxonLists(database)
})
afterAll(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

const read = (search: string): AxonListQuery => {
  const parsed = parseQuery(AxonListQuery, search)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed.value
}
const list = (search: string, before?: number, account = 'test'): AxonList =>
  JSON.parse(lists.list({ account, query: read(search), before, version: store.version(account) }).toString())

const statementsOf = (search: string, before?: number) => {
  const query = read(search)
  const walks = lists.walksOf('test', query)
  if (!walks) throw new Error('the account has no axons')
  const owner = { account: 'test', number: 1 }
  return {
    page: linesOf(pageStatement(walks.page, before, query.limit + 1)),
    others: [
      countStatement(walks.count),
      ...conditionsOf(owner, query).map(({ source }) => probeStatement(source, 10_000)),
    ],
  }
}
const planOf = ({ sql, values }: { sql: string; values: (string | number)[] }) =>
  database
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...values)
    .map(({ detail }) => String(detail))

const filters = {
  'no filter': ['', () => true],
  'a long prefix': ['name=build-11', ({ name }) => name?.startsWith('build-11')],
  'a prefix of many': ['name=build', ({ name }) => name?.startsWith('build')],
  'an id': [`id=${axonAt(77).id}`, ({ id }) => id === axonAt(77).id],
  'a search': ['search=OY-1', ({ name }) => name?.includes('oy-1')],
  'a search in letters beyond ASCII': ['search=TRÄN-7', ({ name }) => name?.includes('trän-7')],
  'a search of many': ['search=axn_', () => true],
  'a search for an id': [`search=${axonAt(4711).id.slice(6)}`, ({ id }) => id === axonAt(4711).id],
  'two pairs': ['metadata[env]=prod&metadata[team]=t4', ({ metadata: m }) => m.env === 'prod' && m.team === 't4'],
  'two pairs that never meet': ['metadata[env]=prod&metadata[run]=1', () => false],
  'one of three values': ['metadata[team][in]=t1,t5,none', ({ metadata }) => /^t[15]$/.test(metadata.team ?? '')],
  'one of the values that all have': ['metadata[env][in]=prod,dev,test', () => true],
  'one of the values that all have, and a prefix': [
    'metadata[env][in]=prod,dev,test&name=tr',
    ({ name }) => name?.startsWith('tr'),
  ],
  'one of very many values, and a pair': [
    `metadata[run][in]=${Array.from({ length: 400 }, (_, i) => i * 3)}&metadata[team]=t3`,
    ({ metadata: { run, team } }) => Number(run) < 1200 && Number(run) % 3 === 0 && team === 't3',
  ],
  'a pair, a prefix and a search': [
    'metadata[team]=t4&name=b&search=LD-1',
    ({ name, metadata }) => metadata.team === 't4' && name?.startsWith('build-1'),
  ],
} satisfies Record<string, [string, (axon: Axon) => boolean | undefined]>

describe.each(Object.entries(filters))('a list by %s', (_, [search, isMatch]) => {
  const expected = () => made.filter(isMatch).reverse()

  it('returns all matches in pages, newest first', () => {
    const all = expected()
    const first = list(`${search}&limit=50`)
    expect(first.axons).toEqual(all.slice(0, 50))
    expect(first).toMatchObject({ has_more: all.length > 50, total_count: all.length })
    const middle = all[Math.floor(all.length / 2)]
    if (!middle) return
    const from = all.indexOf(middle) + 1
    const next = list(`${search}&limit=50&include_total_count=false`, store.position('test', middle.id))
    expect(next.axons).toEqual(all.slice(from, from + 50))
    expect(next).toMatchObject({ has_more: all.length > from + 50, total_count: null })
  })

  it('uses indexes without scans or offsets', () => {
    for (const before of [undefined, 5000]) {
      const { page, others } = statementsOf(search, before)
      for (const statement of [page, ...others]) {
        const scans = planOf(statement).filter((line) => line.startsWith('SCAN') && !isBounded.test(line))
        expect({ sql: statement.sql, scans }).toEqual({ sql: statement.sql, scans: [] })
        expect(statement.sql).not.toMatch(/\bOFFSET\b/i)
      }
    }
  })
})

/** Scans of the page itself, a constant, or matches (M) in the search index. */
const isBounded = /^SCAN (page|\(subquery-\d+\)|CONSTANT ROW|axon_search VIRTUAL TABLE INDEX \d+:.*M)/

describe('a search for fewer than three characters', () => {
  it('covers only the newest axons', () => {
    const reached = made.slice(-shortSearchLimit)
    const matching = reached.filter(({ id, name }) => `${id}\n${name}`.toLowerCase().includes('d-')).reverse()
    expect(list('search=D-&limit=5000').axons).toEqual(matching.slice(0, 5000))
    expect(list('search=D-').total_count).toBe(matching.length)
    expect(list('search=~~')).toEqual({ axons: [], has_more: false, total_count: 0 })
  })
})

describe('counts', () => {
  const searches = ['', 'name=late', 'search=LATE', 'metadata[late]=a', 'metadata[late][in]=a,b', 'id=axn_none']

  it('follow created, changed and deleted axons', () => {
    const total = () => searches.map((search) => list(search).total_count)
    expect(total()).toEqual([size, 0, 0, 0, 0, 0])
    const axon = store.create('test', { name: 'late-1', metadata: { late: 'a' } }, 1)
    store.create('other', { name: 'late-2', metadata: { late: 'a' } }, 1)
    expect(total()).toEqual([size + 1, 1, 1, 1, 1, 0])
    store.update('test', axon.id, { late: 'b' })
    expect(total()).toEqual([size + 1, 1, 1, 0, 1, 0])
    expect(list('metadata[late]=b').axons).toEqual([{ ...axon, metadata: { late: 'b' } }])
    store.update('test', axon.id, {})
    expect(total()).toEqual([size + 1, 1, 1, 0, 0, 0])
    store.delete('test', axon.id, 9)
    expect(total()).toEqual([size + 1, 1, 1, 0, 0, 0])
    expect(createAxonStore(database).get('test', axon.id)).toMatchObject({ metadata: {}, deleted_at_ms: 9 })
  })
})

it('finds metadata keys and values without a scan', () => {
  store.create('test', { metadata: JSON.parse('{"__proto__":"x","":"empty","\\u0000":"nul"}') }, 1)
  expect(store.metadataKeys('test')).toEqual(['', '\0', '__proto__', 'env', 'run', 'team'])
  expect(store.metadataValues('test', 'env')).toEqual(['dev', 'prod', 'test'])
  expect(store.metadataValues('test', 'run')).toHaveLength(10_000)
  expect(store.metadataValues('test', '__proto__')).toEqual(['x'])
  expect(store.metadataValues('test', 'none')).toEqual([])
  expect(store.metadataKeys('nobody')).toEqual([])
  for (const [sql, values] of [
    [metadataKeysSql('axon_metadata'), { account: 'test' }],
    [metadataValuesSql('axon_metadata'), { account: 'test', key: 'env' }],
  ] as const) {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values)
    expect(plan.filter(({ detail }) => /SCAN (?!found)/.test(String(detail)))).toEqual([])
  }
})

it.each([
  'x'.repeat(10_000),
  'nul\0inside',
  '\0first',
  '"quoted" AND name:"x"',
  'a*b^c(d)',
  "'; DROP TABLE axons; --",
  '100%_\\',
  '\u2028\u2029\u{1f600}\ud7ff\ue000',
  'Straße ΣΑΣ',
  '\u{10ffff}',
])('finds the name %j by id, prefixes and parts', (name) => {
  const { id } = store.create('hostile', { name, metadata: {} }, 1)
  const find = (search: string) => list(`${search}&limit=5000`, undefined, 'hostile').axons
  const characters = [...name]
  const starts = [1, 2, 5, 200].map((length) => characters.slice(0, length).join(''))
  for (const part of [...starts, ...[3, 200].map((length) => characters.slice(-length).join(''))])
    expect(find(`search=${encodeURIComponent(part)}`).map((axon) => axon.id)).toContain(id)
  for (const prefix of [...starts, name])
    expect(find(`name=${encodeURIComponent(prefix)}`).map((axon) => axon.id)).toContain(id)
  expect(find(`id=${id}`)).toMatchObject([{ id, name }])
  if (name.startsWith('Straße'))
    for (const part of ['STRASSE', 'σας', 'σασ']) expect(find(`search=${encodeURIComponent(part)}`)).toHaveLength(1)
})

it('ends a page of very large axons early', () => {
  const metadata = { large: 'x'.repeat(1024 * 1024) }
  const ids = Array.from({ length: 12 }, () => store.create('large', { metadata }, 1).id).reverse()
  const first = list('limit=5000', undefined, 'large')
  expect(first).toMatchObject({ has_more: true, total_count: 12 })
  const seen = first.axons.map(({ id }) => id)
  const rest = list('limit=5000', store.position('large', seen.at(-1) ?? ''), 'large')
  expect([...seen, ...rest.axons.map(({ id }) => id)]).toEqual(ids.slice(0, seen.length + rest.axons.length))
  expect(seen).toHaveLength(7)
})
