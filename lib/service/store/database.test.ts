import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startService } from '#lib/service/testing/service.ts'
import { addSearchFunctions } from './axons/search-text.ts'
import { inspectDatabase, inTransaction, openDatabase } from './database.ts'
import { migrations } from './migrations.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-database-'))
  file = join(folder, 'devdeck.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A database as the release with this schema left it, with an axon in it. */
const older = (version: number) => {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL')
  addSearchFunctions(database)
  for (const sql of migrations.slice(0, version)) database.exec(sql)
  database.exec(`PRAGMA user_version = ${version}`)
  database
    .prepare(
      "INSERT INTO axons (id, account, name, created_at_ms, metadata) VALUES ('axn_1', 'local', 'kept', 1, '{}')",
    )
    .run()
  database.close()
}
const axons = (path: string) => {
  const database = new DatabaseSync(path, { readOnly: true })
  const found = database.prepare('SELECT id, name FROM axons').all()
  database.close()
  return found
}

describe('an older schema', () => {
  it.each(migrations.slice(1).map((_, i) => i + 1))(
    '%i is brought up to date, with a whole copy kept beside it',
    (version) => {
      older(version)
      openDatabase(file).close()
      expect(inspectDatabase(file)).toMatchObject({ schema: migrations.length, validKeys: 0 })
      const backup = `${file}.v${version}.bak`
      expect(inspectDatabase(backup)).toMatchObject({ schema: version })
      for (const path of [file, backup]) expect(axons(path)).toEqual([{ id: 'axn_1', name: 'kept' }])
      expect((statSync(backup).mode & 0o777).toString(8)).toBe('600')

      const { mtimeMs } = statSync(backup)
      openDatabase(file).close()
      expect(statSync(backup).mtimeMs).toBe(mtimeMs)
    },
  )

  it('loses its copy once the database has been good for a week', async () => {
    older(1)
    openDatabase(file).close()
    const backup = `${file}.v1.bak`
    const ageDays = (days: number) => utimesSync(backup, new Date(), new Date(Date.now() - days * 24 * 60 * 60 * 1000))
    for (const days of [6, 8]) {
      ageDays(days)
      await (await startService({ isolation: 'none', dataDir: folder })).close()
      expect([days, existsSync(backup)]).toEqual([days, days === 6])
    }
    expect(axons(file)).toEqual([{ id: 'axn_1', name: 'kept' }])
  })

  it('stays as it was when a step fails', () => {
    older(1)
    const database = new DatabaseSync(file)
    database.exec('CREATE TABLE devboxes (in_the_way TEXT)')
    database.close()
    expect(() => openDatabase(file)).toThrow(/devboxes already exists/)
    expect(inspectDatabase(file)).toMatchObject({ schema: 1 })
    expect(axons(file)).toEqual([{ id: 'axn_1', name: 'kept' }])
  })
})

describe('a database', () => {
  it('needs no copy when it is new', () => {
    openDatabase(file).close()
    expect(readdirSync(folder)).toEqual(['devdeck.db'])
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  })

  it('keeps all of a transaction or nothing', () => {
    const database = openDatabase(file)
    const add = (id: string) =>
      database.exec(`INSERT INTO axons (id, account, created_at_ms, metadata) VALUES ('${id}', 'local', 1, '{}')`)
    expect(() =>
      inTransaction(database, () => {
        add('axn_1')
        add('axn_1')
      }),
    ).toThrow(/UNIQUE/)
    inTransaction(database, () => add('axn_2'))
    expect(axons(file)).toEqual([{ id: 'axn_2', name: null }])
    database.close()
  })

  it('that is damaged is told apart from a whole one', () => {
    older(1)
    // The second page holds the axons, the pages after it their indexes: these no longer agree.
    const handle = openSync(file, 'r+')
    writeSync(handle, Buffer.alloc(64), 0, 64, 2 * 4096 - 64)
    closeSync(handle)
    expect(inspectDatabase(file).problem).toMatch(/^damaged: /)
  })
})
