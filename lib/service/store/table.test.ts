import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
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
