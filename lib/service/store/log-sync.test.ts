import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fileThreads, holdDisk, holdFileThread } from '../testing-disk.ts'
import { type Database, openDatabase } from './database.ts'

let folder: string
let database: Database
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-log-'))
  database = openDatabase(join(folder, 'devdeck.db'))
  database.exec('CREATE TABLE notes (text TEXT)')
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

const write = (text: string) =>
  database.inTransactionAhead(() => database.prepare('INSERT INTO notes VALUES (?)').run(text))

it('does not take a sync for done that began before the write', async () => {
  const releases = Array.from({ length: fileThreads }, holdFileThread)
  const settled: string[] = []
  const noting = async (name: string, synced: Promise<void>) => {
    await synced
    settled.push(name)
  }
  write('a')
  const first = noting('a', database.synced())
  // What waits behind the first sync for a thread holds that thread then.
  releases.push(holdFileThread())
  write('b')
  const others = [noting('b', database.synced()), noting('c', database.synced())]
  await releases.shift()?.()
  await first
  await setImmediate()
  expect(settled).toEqual(['a'])
  for (const release of releases) await release()
  await Promise.all(others)
  expect(settled).toEqual(['a', 'b', 'c'])
})

it('has nothing to wait for when every write waited itself', async () => {
  const release = holdDisk()
  await database.synced()
  await release()
})

it('lets every other write wait for the disk as before', () => {
  const mode = () => database.prepare('PRAGMA synchronous').get()
  const full = { synchronous: 2 }
  expect(mode()).toEqual(full)
  database.inTransactionAhead(() => expect(mode()).toEqual({ synchronous: 1 }))
  expect(mode()).toEqual(full)
  expect(() =>
    database.inTransactionAhead(() => {
      write('nested')
    }),
  ).toThrow(/transaction/)
  expect(mode()).toEqual(full)
  expect(database.isTransaction).toBe(false)
})
