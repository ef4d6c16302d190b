import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import { startService, type TestService } from './testing/service.ts'

const folders: string[] = []
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-service-test-'))
  folders.push(folder)
  return folder
}

const start = async (options: Parameters<typeof startService>[0] = {}): Promise<TestService> => {
  const service = await startService({ isolation: 'none', ...options })
  closers.push(service.close)
  return service
}

describe('the service', () => {
  it('creates private files only', async () => {
    const { dataDir, client } = await start()
    await client.axons.create()
    expect(modeOf(dataDir)).toBe('700')
    for (const file of ['devdeck.db', 'devdeck.db-wal', 'devdeck.db-shm', 'lock', 'service-id'])
      expect([file, modeOf(join(dataDir, file))]).toEqual([file, '600'])
  })
})

describe('a data folder', () => {
  it("can't be used by a second service", async () => {
    const { dataDir, client } = await start()
    await expect(startService({ isolation: 'none', dataDir })).rejects.toThrow(
      `in use by another Devdeck service (pid ${process.pid})`,
    )
    expect(await client.health.check()).toMatchObject({ status: 'ok' })
  })

  it('ignores a stale lock file', async () => {
    const dataDir = newFolder()
    writeFileSync(join(dataDir, 'lock'), `${process.pid}\n`)
    expect(await (await start({ dataDir })).client.health.check()).toMatchObject({ status: 'ok' })
  })

  it('locked by another program returns 503 for writes and serves reads until it is released', async () => {
    const { dataDir, client } = await start()
    const { id } = await client.axons.create()
    const other = new DatabaseSync(join(dataDir, 'devdeck.db'))
    other.exec('BEGIN EXCLUSIVE')
    await expect(client.axons.create()).rejects.toMatchObject({
      status: 503,
      message: 'The database is locked by another process',
      retryAfterMs: 1000,
    })
    expect(await client.axons.get({ params: { id } })).toMatchObject({ id })
    other.exec('ROLLBACK')
    other.close()
    await client.axons.create()
  })

  it.each([
    ['removed', (dataDir: string) => renameSync(dataDir, `${dataDir}-aside`)],
    ['without its database', (dataDir: string) => renameSync(join(dataDir, 'devdeck.db'), join(dataDir, 'aside'))],
    [
      'without its write-ahead log',
      (dataDir: string) => renameSync(join(dataDir, 'devdeck.db-wal'), join(dataDir, 'wal')),
    ],
    [
      'replaced by another folder',
      (dataDir: string) => {
        renameSync(dataDir, `${dataDir}-aside`)
        mkdirSync(dataDir)
      },
    ],
  ])('%s under a running service fails its health and every call', async (_, remove) => {
    const dataDir = newFolder()
    folders.push(`${dataDir}-aside`)
    const service = await start({ dataDir })
    await service.client.axons.create()
    const status = async (path: string) => (await service.fetch(path)).status
    expect(await status('/healthz')).toBe(200)
    remove(dataDir)
    await expect.poll(() => status('/healthz'), { timeout: 10_000 }).toBe(503)
    await expect(service.client.axons.create()).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('was removed or replaced'),
    })
  })

  it('of a newer version is rejected', async () => {
    const dataDir = newFolder()
    const database = new DatabaseSync(join(dataDir, 'devdeck.db'))
    database.exec('PRAGMA user_version = 999')
    database.close()
    writeFileSync(join(dataDir, 'devdeck.db.v10.bak'), '')
    writeFileSync(join(dataDir, 'devdeck.db.v998.bak'), '')
    await expect(startService({ isolation: 'none', dataDir })).rejects.toThrow(
      /newer Devdeck.*Run the newer release, or restore devdeck\.db\.v10\.bak as devdeck\.db$/,
    )
  })

  it('with an invalid database is rejected', async () => {
    const dataDir = newFolder()
    writeFileSync(join(dataDir, 'devdeck.db'), 'this is no database, and long enough to be taken for one'.repeat(100))
    await expect(startService({ isolation: 'none', dataDir })).rejects.toThrow(/Can't use the database/)
    rmSync(join(dataDir, 'devdeck.db'))
    mkdirSync(join(dataDir, 'devdeck.db'))
    await expect(startService({ isolation: 'none', dataDir })).rejects.toThrow()
  })
})

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
