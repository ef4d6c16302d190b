import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ActivityStore } from './activity/activity-store.ts'
import { readConfig } from './config.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-folder-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)
const modes = () => Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]))

it.each([
  ['with a service of its own', {}],
  [
    'with a service and a secret that are given',
    { DEVDECK_SERVICE_URL: 'https://api.example.org', DEVDECK_SESSION_SECRET: randomBytes(32).toString('base64') },
  ],
])('closes a folder, and console files in it, that were open to everyone: %s', (_, environment) => {
  chmodSync(folder, 0o755)
  for (const name of ['session-secret', 'alerts.sqlite', 'alerts.sqlite-wal', 'somebody-elses'])
    writeFileSync(join(folder, name), randomBytes(32).toString('hex'), { mode: 0o644 })
  mkdirSync(join(folder, 'recordings/account'), { recursive: true })
  writeFileSync(join(folder, 'recordings/account/rec_1.cast'), '', { mode: 0o644 })
  readConfig({ ...environment, DEVDECK_DATA_DIR: folder })
  expect(modeOf(folder)).toBe('700')
  expect(modes()).toEqual({
    'session-secret': '600',
    'alerts.sqlite': '600',
    'alerts.sqlite-wal': '600',
    recordings: '700',
    'somebody-elses': '644',
  })
  expect(modeOf(join(folder, 'recordings/account'))).toBe('700')
  expect(modeOf(join(folder, 'recordings/account/rec_1.cast'))).toBe('600')
})

it('opens databases for its own user alone, whatever the umask', () => {
  const before = process.umask(0)
  const store = new ActivityStore(join(folder, 'made'))
  store.put('a', { at_ms: 1, operation: 'o', subject: null, status: 200, person: null, browser: 'b', address: '' })
  process.umask(before)
  folder = join(folder, 'made')
  expect([modeOf(folder), modes()]).toEqual([
    '700',
    { 'activity.sqlite': '600', 'activity.sqlite-shm': '600', 'activity.sqlite-wal': '600' },
  ])
  store.close()
})

it('refuses a folder that everyone on the machine shares', () => {
  chmodSync(folder, 0o1777)
  expect(() => readConfig({ DEVDECK_DATA_DIR: folder })).toThrow(
    `DEVDECK_DATA_DIR ${folder} cannot be used: other users share it; choose a dedicated folder`,
  )
  expect(modeOf(folder)).toBe('1777')
})
