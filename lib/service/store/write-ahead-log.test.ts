import { execFileSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '#lib/service/testing/process.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { findLogProblem } from './write-ahead-log.ts'

let root: string
let running: TestService | undefined
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'devdeck-log-'))
})
afterEach(async () => {
  await running?.close()
  running = undefined
  rmSync(root, { recursive: true, force: true })
})

const start = async (dataDir: string) => {
  running = await startService({ isolation: 'none', dataDir })
  return running
}
const stop = async () => {
  await running?.close()
  running = undefined
}
const addAxons = async ({ client }: TestService, count: number) => {
  for (let i = 0; i < count; i++) await client.axons.create({ body: { name: `axon ${i}`, metadata: { i: `${i}` } } })
}
/** Copies the folder of a running service, as a kill would leave it. */
const crashed = (dataDir: string): string => {
  const copy = join(root, 'crashed')
  // In another process: closing a file here would release SQLite's locks.
  execFileSync('cp', ['-a', dataDir, copy])
  return copy
}
const startAgain = async (dataDir: string) => {
  await stop()
  const { client } = await start(dataDir)
  const { total_count } = await client.axons.list()
  const [when] = existsSync(join(dataDir, 'lost+found')) ? readdirSync(join(dataDir, 'lost+found')) : []
  await addAxons(running as TestService, 1)
  await stop()
  const database = new DatabaseSync(join(dataDir, 'devdeck.db'), { readOnly: true })
  expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  database.close()
  return {
    axons: total_count,
    note: when && readFileSync(join(dataDir, 'lost+found', when, 'notes.txt'), 'utf8'),
    kept: when && existsSync(join(dataDir, 'lost+found', when, 'devdeck.db-wal')),
  }
}
const at = (dataDir: string, end: string) => join(dataDir, `devdeck.db${end}`)
const overwrite = (file: string, position: number, bytes: Buffer) => {
  const handle = openSync(file, 'r+')
  writeSync(handle, bytes, 0, bytes.length, position)
  closeSync(handle)
}

describe('the log of a killed service', () => {
  it('is applied at any moment around a restart of the log', async () => {
    const service = await start(join(root, 'data'))
    const database = new DatabaseSync(at(service.dataDir, ''))
    for (const sql of [
      'PRAGMA wal_checkpoint(PASSIVE)',
      'PRAGMA wal_checkpoint(RESTART)',
      'PRAGMA wal_checkpoint(TRUNCATE)',
    ]) {
      await addAxons(service, 3)
      database.exec(sql)
      for (const more of [0, 1]) {
        await addAxons(service, more)
        const copy = crashed(service.dataDir)
        expect([sql, more, findLogProblem(at(copy, ''))]).toEqual([sql, more, undefined])
        rmSync(copy, { recursive: true })
      }
    }
    database.close()
  })

  it.each([
    ['a stopped service', async (_: TestService, file: string, first: string) => copyFileSync(first, file)],
    [
      'a running service, by VACUUM INTO',
      async ({ dataDir }: TestService, file: string) => {
        const database = new DatabaseSync(at(dataDir, ''))
        database.prepare('VACUUM INTO ?').run(file)
        database.close()
      },
    ],
  ])('is not applied to a restored backup of %s', async (_, backUp) => {
    const dataDir = join(root, 'data')
    await addAxons(await start(dataDir), 5)
    await stop()
    copyFileSync(at(dataDir, ''), join(root, 'first'))
    const service = await start(dataDir)
    const backup = join(root, 'backup')
    await backUp(service, backup, join(root, 'first'))
    await addAxons(service, 30)
    // A command must not restart the log of a running service.
    expect(await runCommand(['keys', 'add', '--data-dir', dataDir]).ended).toMatchObject({ code: 0 })
    await addAxons(service, 1)
    const copy = crashed(dataDir)
    // In place, so the inode stays the same.
    copyFileSync(backup, at(copy, ''))
    const { axons, note, kept } = await startAgain(copy)
    expect({ axons, kept }).toEqual({ axons: 5, kept: true })
    expect(note).toMatch(/belongs to a newer devdeck\.db.*backup was restored.*3\d changes were not applied/)
  })
})

describe('a log that was', () => {
  const damaged = async (damage: (log: string, copy: string) => void) => {
    const service = await start(join(root, 'data'))
    await addAxons(service, 20)
    const copy = crashed(service.dataDir)
    damage(at(copy, '-wal'), copy)
    return startAgain(copy)
  }
  const middle = (log: string) => overwrite(log, Math.floor(statSync(log).size / 2), Buffer.alloc(64, 0xff))

  it.each([
    ['damaged', middle, /damaged: \d+ changes, \d+ changed pages lost.*\d+ changes before the damage applied/],
    [
      'damaged, with its index missing',
      (log: string, copy: string) => {
        rmSync(at(copy, '-shm'))
        middle(log)
      },
      /damaged: \d+ changes/,
    ],
    [
      'truncated',
      (log: string) => truncateSync(log, Math.floor(statSync(log).size / 2)),
      /damaged: .*changed pages lost/,
    ],
    [
      'missing its header',
      (log: string) => overwrite(log, 0, Buffer.alloc(32)),
      /damaged: 2\d changes.*; 0 changes before/,
    ],
  ])('%s is saved, with a note of what is lost', async (_, damage, expected) => {
    const { axons, note, kept } = await damaged(damage)
    expect(note).toMatch(expected)
    expect(kept).toBe(true)
    expect(axons).toBeLessThan(20)
  })

  it.each([
    ['removed', (log: string) => rmSync(log), /missing.*\d+ changed pages lost/],
    [
      'removed with its index',
      (log: string, copy: string) => {
        rmSync(log)
        rmSync(at(copy, '-shm'))
      },
      /missing.*unknown number of changes lost/,
    ],
  ])('%s is reported', async (_, damage, expected) => {
    expect(await damaged(damage)).toMatchObject({ axons: 0, note: expect.stringMatching(expected), kept: false })
  })
})
