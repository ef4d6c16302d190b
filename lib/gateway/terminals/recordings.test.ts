import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { maxRecordings, type Recording, type RecordingList } from '#lib/protocol/recordings.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { recordingFile, TerminalRecording } from './recordings.ts'

let dataDir: string
let service: TestService
let console_: TestConsole
let cookie: string
let account_id: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'devdeck-recordings-'))
  service = await startService()
  console_ = await startConsole(service, { dataDir })
  cookie = await console_.signIn(service.key)
  account_id = (await service.client.accounts.me()).id
})
afterEach(() => rm(join(dataDir, 'recordings'), { recursive: true, force: true }))
afterAll(async () => {
  await console_.close()
  await service.close()
  await rm(dataDir, { recursive: true })
})

const start = (more: { account_id?: string; title?: string } = {}) =>
  TerminalRecording.start({
    account_id,
    devbox_id: 'dbx_1',
    terminal: 'main',
    cols: 80,
    rows: 24,
    title: 'bash',
    ...more,
  })

const list = async (): Promise<Recording[]> => {
  const answer = await console_.fetch('/api/recordings', { cookie })
  expect(answer.status).toBe(200)
  return ((await answer.json()) as RecordingList).recordings
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('a recording', () => {
  it('is asciicast v2 with ordered output, sizes, marks and increasing times', async () => {
    const recording = await start({ title: 'vim "notes"' })
    recording.output(Buffer.from('one\r\n'))
    recording.resize(100, 30)
    recording.mark('a place')
    recording.output(Buffer.from('\x1b[31mtwo'))
    await recording.end()
    const answer = await console_.fetch(`/api/recordings/${recording.id}`, { cookie })
    expect(answer.headers.get('content-type')).toBe('application/x-asciicast')
    expect(answer.headers.get('content-disposition')).toContain(`${recording.id}.cast`)
    const [header, ...events] = linesOf(await answer.text())
    expect(header).toMatchObject({ version: 2, width: 80, height: 24, title: 'vim "notes"' })
    expect(events.map(([, ...rest]) => rest)).toEqual([
      ['o', 'one\r\n'],
      ['r', '100x30'],
      ['m', 'a place'],
      ['o', '\x1b[31mtwo'],
    ])
    const times = events.map(([time]) => time as number)
    expect(times).toEqual([...times].sort((a, b) => a - b))
  })

  it('is readable by its owner only', async () => {
    const recording = await start()
    await recording.end()
    expect((await stat(recordingFile(account_id, recording.id))).mode & 0o777).toBe(0o600)
  })

  it('stops at the size limit and reports it', async () => {
    const recording = await start()
    const problem = new Promise<string>((resolve) => recording.onFailure(resolve))
    const megabyte = Buffer.alloc(1024 * 1024, 'x')
    let isEnded = false
    void problem.then(() => {
      isEnded = true
    })
    while (!isEnded) {
      recording.output(megabyte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await problem).toMatch(/256 MiB|too slow/)
    await recording.end()
  })
})

describe('GET /api/recordings', () => {
  it('lists recordings newest first, including the running one', async () => {
    const first = await start({ title: 'first' })
    first.output(Buffer.from('x'))
    await first.end()
    const second = await start({ title: 'second' })
    const [newest, oldest, ...more] = await list()
    expect(more).toEqual([])
    expect(newest).toMatchObject({ id: second.id, title: 'second', live: true })
    expect(oldest).toMatchObject({ id: first.id, title: 'first', live: false, devbox_id: 'dbx_1', terminal: 'main' })
    expect(oldest?.duration_ms).toBeGreaterThanOrEqual(0)
    await second.end()
    expect((await list())[0]).toMatchObject({ live: false })
  })

  it('excludes other accounts', async () => {
    const recording = await start({ account_id: 'acc_other' })
    await recording.end()
    expect(await list()).toEqual([])
    expect((await console_.fetch(`/api/recordings/${recording.id}`, { cookie })).status).toBe(404)
    const answer = await console_.fetch(`/api/recordings/${recording.id}`, { method: 'DELETE', cookie })
    expect(answer.status).toBe(404)
    expect((await stat(recordingFile('acc_other', recording.id))).size).toBeGreaterThan(0)
  })

  it('returns 401 without a session and 403 from another site', async () => {
    expect((await console_.fetch('/api/recordings')).status).toBe(401)
    const headers = { 'sec-fetch-site': 'cross-site' }
    expect((await console_.fetch('/api/recordings', { cookie, headers })).status).toBe(403)
  })

  it.each(['..', 'rec_', 'rec_%2e%2e%2fsession-secret', `rec_${'0'.repeat(200)}`])('404 for the id %s', async (id) => {
    expect((await console_.fetch(`/api/recordings/${encodeURIComponent(id)}`, { cookie })).status).toBe(404)
  })

  it('refuses to start more recordings than allowed', async () => {
    const started = await Promise.all(Array.from({ length: maxRecordings }, () => start()))
    await expect(start()).rejects.toMatchObject({ code: 'rate_limited' })
    await Promise.all(started.map((each) => each.end()))
  })
})

describe('DELETE /api/recordings/{id}', () => {
  it('deletes the file', async () => {
    const recording = await start()
    await recording.end()
    const path = `/api/recordings/${recording.id}`
    expect((await console_.fetch(path, { method: 'DELETE', cookie })).status).toBe(200)
    expect(await list()).toEqual([])
    expect((await console_.fetch(path, { method: 'DELETE', cookie })).status).toBe(404)
    const activity = await console_.fetch(`/api/activity?search=${recording.id}`, { cookie })
    expect(await activity.json()).toMatchObject({
      activities: [
        { operation: 'recordings.delete', status: 404 },
        { operation: 'recordings.delete', status: 200 },
      ],
    })
  })

  it('returns 409 while recording', async () => {
    const recording = await start()
    recording.output(Buffer.from('x'))
    const path = `/api/recordings/${recording.id}`
    await expect.poll(async () => (await list()).length).toBe(1)
    expect((await console_.fetch(path, { method: 'DELETE', cookie })).status).toBe(409)
    await recording.end()
  })
})
