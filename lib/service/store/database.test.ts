import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startService } from '#lib/service/testing/service.ts'
import { inspectDatabase, openDatabase, removeOldBackups } from './database.ts'
import { migrations, schemaVersion } from './schema.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-database-'))
  file = join(folder, 'devdeck.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Writes a database created by release 0.1.0, with an axon, an ended devbox, a scenario and a benchmark. */
const restoreRelease = () => {
  const release = join(import.meta.dirname, '../testing/devdeck-0.1.0.db.gz')
  writeFileSync(file, gunzipSync(readFileSync(release)))
}
const axonNames = (path: string) => {
  const database = new DatabaseSync(path, { readOnly: true })
  const names = database.prepare('SELECT name FROM axons').all()
  database.close()
  return names.map(({ name }) => name)
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

it('opens a database of release 0.1.0', async () => {
  restoreRelease()
  const service = await startService({ isolation: 'none', dataDir: folder })
  const { client } = service
  const { axons } = await client.axons.list({
    query: { search: 'KEP', metadata: [{ key: 'env', op: 'eq', value: 'prod' }] },
  })
  expect(axons).toMatchObject([{ name: 'kept' }])
  const id = axons[0]?.id ?? ''
  expect((await client.axons.events({ params: { id } })).events).toMatchObject([{ sequence: 1, payload: 'first' }])
  expect((await client.devboxes.list()).devboxes).toMatchObject([{ name: 'kept', status: 'shutdown' }])
  const [benchmark] = (await client.benchmarks.list()).benchmarks
  const [scenario] = (await client.scenarios.list()).scenarios
  expect(benchmark?.scenarioIds).toEqual([scenario?.id])
  await service.close()
  expect(readdirSync(folder).filter((name) => name.endsWith('.bak'))).toEqual(['devdeck.db.v10.bak'])
})

it('refuses a database of a pre-release', () => {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA user_version = 9')
  database.close()
  expect(() => openDatabase(file)).toThrow(/schema 9, written by a pre-release/)
})

describe('a migration', () => {
  const steps = [...migrations, 'ALTER TABLE axons ADD COLUMN color TEXT', "UPDATE axons SET color = 'red'"]
  const backup = () => `${file}.v10.bak`

  it('runs once and keeps a backup for a week', () => {
    restoreRelease()
    const lines: string[] = []
    openDatabase(file, { steps, log: (line) => lines.push(line) }).close()
    const from = `Migrating the database from schema 10 to ${schemaVersion + 2}`
    expect(lines).toEqual([`${from}; backup: devdeck.db.v10.bak`])
    expect(inspectDatabase(backup())).toMatchObject({ schema: 10 })
    for (const path of [file, backup()]) expect(axonNames(path)).toEqual(['kept'])
    expect(modeOf(backup())).toBe('600')
    const { mtimeMs } = statSync(backup())
    openDatabase(file, { steps }).close()
    expect(statSync(backup()).mtimeMs).toBe(mtimeMs)
    expect(() => openDatabase(file, { steps: [] })).toThrow(
      /newer Devdeck.*or restore devdeck\.db\.v10\.bak as devdeck\.db$/,
    )

    const ageDays = (days: number) =>
      utimesSync(backup(), new Date(), new Date(Date.now() - days * 24 * 60 * 60 * 1000))
    ageDays(6)
    expect(removeOldBackups(file, Date.now())).toEqual([])
    ageDays(8)
    expect(removeOldBackups(file, Date.now())).toEqual(['devdeck.db.v10.bak'])
    expect(existsSync(backup())).toBe(false)
  })

  it('changes nothing when a step fails', () => {
    restoreRelease()
    expect(() => openDatabase(file, { steps: [...steps, 'CREATE TABLE devboxes (id TEXT)'] })).toThrow(
      /devboxes already exists/,
    )
    expect(inspectDatabase(file)).toMatchObject({ schema: 10 })
    openDatabase(file).close()
    expect(axonNames(file)).toEqual(['kept'])
  })
})

it('detects a damaged database', () => {
  restoreRelease()
  const database = new DatabaseSync(file)
  const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'axons'").get() as {
    rootpage: number
  }
  database.close()
  // Erases the axon's row, which its indexes still refer to.
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(4000), 0, 4000, rootpage * 4096 - 4000)
  closeSync(handle)
  expect(inspectDatabase(file).problem).toMatch(/^damaged: /)
})
