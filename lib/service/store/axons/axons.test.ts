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
  'a prefix of one letter': ['name=D', ({ name }) => name?.startsWith('D')],
  'a prefix of two letters': ['name=tr', ({ name }) => name?.startsWith('tr')],
  'a prefix that no name has': ['name=deploy', () => false],
  'an id': [`id=${axonAt(77).id}`, ({ id }) => id === axonAt(77).id],
  'a search': ['search=OY-1', ({ name }) => name?.includes('oy-1')],
  'a search in letters beyond ASCII': ['search=TRÄN-7', ({ name }) => name?.includes('trän-7')],
  'a search of many': ['search=axn_', () => true],
  'a search for an id': [`search=${axonAt(4711).id.slice(6)}`, ({ id }) => id === axonAt(4711).id],
  'a search for nothing there': ['search=nothing', () => false],
  'one pair': ['metadata[env]=prod', ({ metadata }) => metadata.env === 'prod'],
  'two pairs': ['metadata[env]=prod&metadata[team]=t4', ({ metadata: m }) => m.env === 'prod' && m.team === 't4'],
  'two pairs that never meet': ['metadata[env]=prod&metadata[run]=1', () => false],
  'a rare value': ['metadata[run]=4711', ({ metadata }) => metadata.run === '4711'],
  'one of three values': ['metadata[team][in]=t1,t5,none', ({ metadata }) => /^t[15]$/.test(metadata.team ?? '')],
  'one of the values that all have': ['metadata[env][in]=prod,dev,test', () => true],
  'one of the values that all have, and a prefix': [
    'metadata[env][in]=prod,dev,test&name=tr',
    ({ name }) => name?.startsWith('tr'),
  ],
  'one of very many values': [
    `metadata[run][in]=${Array.from({ length: 400 }, (_, i) => i * 3)}`,
    ({ metadata: { run } }) => Number(run) < 1200 && Number(run) % 3 === 0,
  ],
  'one of very many values, and a pair': [
    `metadata[run][in]=${Array.from({ length: 400 }, (_, i) => i * 3)}&metadata[team]=t3`,
    ({ metadata: { run, team } }) => Number(run) < 1200 && Number(run) % 3 === 0 && team === 't3',
  ],
  'one of two and one of two': [
    'metadata[team][in]=t1,t5&metadata[env][in]=prod,dev',
    ({ metadata: m }) => /^t[15]$/.test(m.team ?? '') && m.env !== 'test',
  ],
  'a pair and a prefix': [
    'metadata[env]=dev&name=Deploy-1',
    ({ name, metadata }) => metadata.env === 'dev' && name?.startsWith('Deploy-1'),
  ],
  'a pair, a prefix and a search': [
    'metadata[team]=t4&name=b&search=LD-1',
    ({ name, metadata }) => metadata.team === 't4' && name?.startsWith('build-1'),
  ],
  'a prefix and a search': ['name=build-1&search=-11', ({ name }) => name?.startsWith('build-11')],
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

it('does not sort when many axons match', () => {
  for (const search of [filters['one of the values that all have'][0], filters['a search of many'][0]])
    expect(planOf(statementsOf(search).page).join('\n')).not.toContain('ORDER BY')
})

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

  it('are per account', () => {
    expect(list('', undefined, 'other')).toMatchObject({ total_count: 2 })
    expect(list('search=build', undefined, 'other').axons.map(({ id }) => id)).toEqual(['axn_other'])
    expect(list('', undefined, 'nobody')).toEqual({ axons: [], has_more: false, total_count: 0 })
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

describe('hostile names', () => {
  const names = [
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
  ]

  it.each(names.map((name) => [name.slice(0, 30), name]))('%j is found by id, prefixes and parts', (_, name) => {
    const { id } = store.create('hostile', { name, metadata: {} }, 1)
    const characters = [...name]
    const parts = [characters.slice(0, 200), characters.slice(-200), characters.slice(0, 3), characters.slice(-3)]
    for (const part of [...parts.map((each) => each.join('')), characters[0] ?? '']) {
      expect(
        list(`search=${encodeURIComponent(part)}&limit=5000`, undefined, 'hostile').axons.map((axon) => axon.id),
      ).toContain(id)
    }
    for (const prefix of [characters[0], characters.slice(0, 2).join(''), characters.slice(0, 5).join(''), name]) {
      const found = list(`name=${encodeURIComponent(prefix ?? '')}`, undefined, 'hostile').axons.map((axon) => axon.id)
      expect(found).toContain(id)
    }
    expect(list(`id=${id}`, undefined, 'hostile').axons).toEqual([
      { id, name, created_at_ms: 1, deleted_at_ms: null, metadata: {} },
    ])
  })

  it('match without case in any script', () => {
    for (const part of ['STRASSE', 'σας', 'σασ'])
      expect(list(`search=${encodeURIComponent(part)}`, undefined, 'hostile').axons).toHaveLength(1)
  })
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
