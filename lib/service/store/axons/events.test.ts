import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Database, openDatabase } from '../database.ts'
import { migrations } from '../migrations.ts'
import { createAxonEventStore } from './events.ts'
import { addSearchFunctions } from './search-text.ts'

let folder: string
let database: Database | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-events-'))
})
afterEach(() => {
  database?.close()
  rmSync(folder, { recursive: true })
})

const event = { timestamp_ms: 1, origin: 'USER_EVENT', source: 'test', event_type: 'note', payload: '' } as const

/** With schema 6: an axon of this reservation, after so many events and power cuts. */
const older = (events: number, reservation: readonly number[], powerCuts: number, bootId: string | null) => {
  const file = join(folder, 'older.db')
  const made = new DatabaseSync(file)
  addSearchFunctions(made)
  for (const sql of migrations.slice(0, 6)) made.exec(sql)
  made.exec("PRAGMA user_version = 6; INSERT INTO axons VALUES (7, 'axn_7', 'local', NULL, 1, NULL, '{}')")
  const insert = made.prepare("INSERT INTO axon_events VALUES (7, ?, 1, 'USER_EVENT', 'test', 'note', '')")
  for (let i = 1; i <= events; i++) insert.run(i)
  made.prepare('INSERT INTO axon_sequences VALUES (7, ?, ?, ?, ?)').run(...reservation)
  made.prepare('UPDATE power_cuts SET count = ?, boot_id = ?').run(powerCuts, bootId)
  made.close()
  database = openDatabase(file)
  return createAxonEventStore(database)
}

it.each([
  ['a service that ended', 3, [1, 1003, 0, 0], 0, null, 4],
  ['a service that was killed', 3, [1, 1003, 0, 0], 0, 'boot', 1004],
  ['a power cut after which nothing was published', 3, [1, 1003, 0, 0], 1, null, 1004],
  ['a gap at the end', 3, [1004, 2004, 1000, 1], 1, null, 1004],
])('sequences heard of before go to no other event after %s', (_, events, reservation, powerCuts, bootId, next) => {
  const store = older(events, reservation, powerCuts, bootId)
  const count = () => store.list(7, 'axn_7', { limit: 10, include_total_count: true }).total_count
  expect([store.last(7), count()]).toEqual([events, events])
  expect([store.append(7, event), store.append(7, event)]).toEqual([next, next + 1])
  expect([store.last(7), count()]).toEqual([next + 1, events + 2])
})
