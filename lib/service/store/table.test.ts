import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StringMap } from '#lib/contract/common.ts'
import { type Database, inTransaction, openDatabase } from './database.ts'
import { createTable } from './table.ts'

interface Row {
  seq: number
  id: string
  account: string
  name: string
  status: string
  hidden: boolean
  create_time_ms: number
  metadata: StringMap
  input_context: object
  scoring_contract: object
  environment: object | null
}

let folder: string
let database: Database
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-table-'))
  database = openDatabase(join(folder, 'devdeck.db'))
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

const open = () =>
  createTable(database, 'scenarios', {
    json: ['metadata', 'input_context', 'scoring_contract', 'environment'],
    flags: ['hidden'],
    metadata: 'scenario_metadata',
    isListed: ({ status }) => status === 'active',
    view: (row: Row) => row.id,
  })
const scenario = (id: string, more: Partial<Row> = {}) => ({
  id,
  account: 'test',
  name: id,
  status: 'active',
  hidden: false,
  create_time_ms: 1,
  metadata: { env: 'prod' },
  input_context: {},
  scoring_contract: {},
  environment: { working_directory: '/app' },
  ...more,
})
const query = { limit: 2, include_total_count: true }

it('round-trips JSON, booleans and null', () => {
  const table = open()
  table.insert(scenario('one', { hidden: true, environment: null }))
  expect(table.find('one')).toEqual({ seq: 1, ...scenario('one', { hidden: true, environment: null }), ...rest })
  table.set('one', { hidden: false, environment: { snapshot_id: 's' }, name: undefined })
  expect(table.find('one')).toMatchObject({ name: 'one', hidden: false, environment: { snapshot_id: 's' } })
})
const rest = {
  reference_output: null,
  required_environment_variables: null,
  required_secret_names: null,
  scorer_timeout_sec: null,
  validation_type: null,
}

it('lists pages of an account, newest first', () => {
  const table = open()
  for (const id of ['a', 'b', 'c']) table.insert(scenario(id))
  table.insert(scenario('other', { account: 'other' }))
  expect(table.list('test', query)).toEqual({ items: ['c', 'b'], has_more: true, total_count: 3 })
  expect(table.list('test', query, table.position('test', 'b'))).toEqual({
    items: ['a'],
    has_more: false,
    total_count: 3,
  })
  expect(table.get('test', 'other')).toBeUndefined()
})

describe('a sorted list', () => {
  const sorted = (table: ReturnType<typeof open>, sort: string, order: 'asc' | 'desc', limit = 100) => {
    const ids: string[] = []
    let before: number | undefined
    for (;;) {
      const { items, has_more } = table.list('test', { limit, include_total_count: false, sort, order }, before)
      ids.push(...items)
      if (!has_more) return ids.join(' ')
      before = table.position('test', items.at(-1) ?? '')
    }
  }

  it('continues after any row, in either order, with equal values newest first and rows without one last', () => {
    const table = open()
    const rows: [string, string, string | null][] = [
      ['a', 'Beta', 'FORWARD'],
      ['b', 'alpha', null],
      ['c', 'beta', 'REVERSE'],
      ['d', 'gamma', 'FORWARD'],
      ['e', 'Alpha', null],
    ]
    for (const [id, name, validation_type] of rows) table.insert({ ...scenario(id, { name }), validation_type } as Row)
    table.insert(scenario('other', { account: 'other' }))
    for (const limit of [1, 2, 3, 100]) {
      expect(sorted(table, 'name', 'asc', limit)).toBe('e b c a d')
      expect(sorted(table, 'name', 'desc', limit)).toBe('d c a e b')
      expect(sorted(table, 'validation_type', 'asc', limit)).toBe('d a c e b')
      expect(sorted(table, 'validation_type', 'desc', limit)).toBe('c d a e b')
    }
  })

  it('rejects a field that is not a column', () => {
    const table = open()
    expect(() => sorted(table, '1; DROP TABLE scenarios', 'asc')).toThrow('No sort field')
  })

  it('reads the names from an index', () => {
    const plan = database
      .prepare(
        "EXPLAIN QUERY PLAN SELECT * FROM devboxes WHERE account = 'a' ORDER BY devboxes.name COLLATE NOCASE ASC NULLS LAST, devboxes.seq DESC LIMIT 20",
      )
      .all()
      .map(({ detail }) => detail)
    expect(plan).toEqual(['SEARCH devboxes USING INDEX devboxes_sorted_by_name (account=?)'])
  })
})

it('indexes the metadata of listed rows only', () => {
  const table = open()
  const { id } = table.insert(scenario('one'))
  table.insert(scenario('two', { status: 'archived', metadata: { team: 'a' } }))
  expect(table.metadataKeys('test')).toEqual(['env'])
  table.update(table.mustFind(id), { metadata: { env: 'dev' } })
  expect(table.metadataValues('test', 'env')).toEqual(['dev'])
  table.update(table.mustFind(id), { status: 'archived' })
  expect(table.metadataKeys('test')).toEqual([])
  table.update(table.mustFind(id), { metadata: { later: 'x' } })
  table.update(table.mustFind(id), { status: 'active' })
  expect(table.metadataKeys('test')).toEqual(['later'])
})

it('joins the current transaction', () => {
  const table = open()
  expect(() =>
    inTransaction(database, () => {
      table.insert(scenario('one'))
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(table.find('one')).toBeUndefined()
})
