import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ActivityList } from '#lib/protocol/activity.ts'
import type { RecordingList } from '#lib/protocol/recordings.ts'
import { type HeldTerminal, terminalClose } from '#lib/protocol/terminals.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { TestNetwork } from '#lib/terminal/page/testing.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { terminals } from './registry.ts'
import { TestPage, until } from './testing.ts'

const network = new TestNetwork(() => service.url)
let networkUrl: string
let service: TestService
let gateway: TestConsole
let cookie: string
let devboxId: string
const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-terminals-'))
const log = vi.spyOn(console, 'log').mockReturnValue(undefined)
beforeAll(async () => {
  networkUrl = await network.listen()
  service = await startService({ allowHosts: [new URL(networkUrl).host] })
  gateway = await startConsole({ url: service.url }, { dataDir })
  cookie = await gateway.signIn(service.key)
  devboxId = (await service.client.devboxes.createAndAwaitRunning({ body: { name: 'held' } })).id
})
afterAll(async () => {
  await gateway.close()
  network.close()
  await service.close()
  rmSync(dataDir, { recursive: true })
})

const open = async (name: string, { own = cookie, agent = '' } = {}) => {
  const page = new TestPage(gateway, `/api/terminals/${devboxId}/${name}?cols=81&rows=25`, {
    cookie: own,
    headers: { 'user-agent': agent },
  })
  await page.told({ t: 'people' })
  return page
}
const list = async (own = cookie) => {
  const response = await gateway.fetch(`/api/terminals/${devboxId}`, { cookie: own })
  expect(response.status).toBe(200)
  return ((await response.json()) as { terminals: HeldTerminal[] }).terminals
}
const activityOf = async (name: string) => {
  const response = await gateway.fetch(`/api/activity?search=/${name}`, { cookie })
  return ((await response.json()) as ActivityList).activities
}
const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36'

describe('GET /api/terminals/{devbox_id}', () => {
  it("returns 200 with the account's open terminals of the devbox", async () => {
    const page = await open('listed', { agent: chrome })
    const watcher = await open('listed', { own: `${cookie}; devdeck-name=Ben`, agent: 'curl/8 <script>' })
    expect(await list()).toMatchObject([
      {
        name: 'listed',
        cols: 81,
        rows: 25,
        writer: { name: 'Chrome on Linux', follower: false },
        viewers: [{ name: 'Chrome on Linux' }, { name: 'Ben (unverified), A program' }],
        ends_at_ms: null,
        recording: null,
      },
    ])
    await page.leave()
    await watcher.leave()
    await until(async () => expect((await list())[0]).toMatchObject({ viewers: [], writer: null }))
    expect((await list())[0]?.ends_at_ms).toBeGreaterThan(Date.now() + 600_000)
    expect(await list(await gateway.signIn(service.otherKey))).toEqual([])
  })

  it("returns 401 without a session and 403 for another site's page", async () => {
    expect((await gateway.fetch(`/api/terminals/${devboxId}`)).status).toBe(401)
    const foreign = { 'sec-fetch-site': 'cross-site' }
    expect((await gateway.fetch(`/api/terminals/${devboxId}`, { cookie, headers: foreign })).status).toBe(403)
  })
})

describe('DELETE /api/terminals/{devbox_id}/{name}', () => {
  const remove = (name: string, init = {}) =>
    gateway.fetch(`/api/terminals/${devboxId}/${name}`, { method: 'DELETE', cookie, ...init })

  it('returns 204 and ends the shell, even if nobody is watching', async () => {
    const page = await open('removed')
    await page.leave()
    expect((await remove('removed')).status).toBe(204)
    expect((await list()).map(({ name }) => name)).not.toContain('removed')
    const next = await open('removed')
    expect(next.last('ready')?.created).toBe(true)
    expect((await remove('removed')).status).toBe(204)
    expect((await next.closed).code).toBe(terminalClose.shellEnded)
    expect(await activityOf('removed')).toMatchObject([{ status: 204 }, { status: 204 }])
  })

  it('returns 204 if the connection to the shell ends before the service has responded', async () => {
    const other = await startConsole({ url: networkUrl })
    const own = await other.signIn(service.key)
    const path = `/api/terminals/${devboxId}/unanswered`
    const page = new TestPage(other, `${path}?cols=81&rows=25`, { cookie: own })
    await page.shows(/[$#] /)
    network.muteAfter(/^POST \S+\/control/)
    expect((await other.fetch(path, { method: 'DELETE', cookie: own })).status).toBe(204)
    expect((await page.closed).code).toBe(terminalClose.shellEnded)
    network.mend()
    await other.close()
  })

  it('is recorded in the activity, like an end requested by the writing page', async () => {
    const page = await open('asked', { agent: chrome })
    const watcher = await open('asked')
    watcher.ask({ t: 'close' })
    await watcher.told({ t: 'problem', code: 'conflict' })
    page.ask({ t: 'close' })
    await page.closed
    await until(async () =>
      expect(await activityOf('asked')).toMatchObject([
        { operation: 'terminals.end', subject: `${devboxId}/asked`, status: 204, browser: 'Chrome on Linux' },
      ]),
    )
    expect((await activityOf('asked'))[0]?.address).toBe('127.0.0.1')
  })

  it('returns 404 for an unknown or foreign terminal and 403 from another origin', async () => {
    const page = await open('mine')
    expect((await remove('none')).status).toBe(404)
    expect((await remove('mine', { cookie: await gateway.signIn(service.otherKey) })).status).toBe(404)
    expect((await remove('mine', { headers: { origin: 'https://evil.example' } })).status).toBe(403)
    await page.leave()
  })
})

describe('a terminal', () => {
  it('is recorded from its current screen until its writer stops', async () => {
    const page = await open('recorded')
    await page.shows(/[$#] /)
    page.type('echo before-$((1+1))\n')
    await page.shows('before-2')
    page.ask({ t: 'record', on: true })
    await page.told({ t: 'recording', id: expect.stringMatching(/^rec_/) as unknown as string })
    const id = page.last('recording')?.id
    expect((await list()).find(({ name }) => name === 'recorded')?.recording).toBe(id)
    const watcher = await open('recorded')
    expect(watcher.last('recording')).toMatchObject({ id })
    page.type('echo during-$((1+1))\n')
    await page.shows('during-2')
    page.ask({ t: 'record', on: false })
    await watcher.told({ t: 'recording', id: null })
    page.type('echo after-$((1+1))\n')
    await page.shows('after-2')
    const response = await gateway.fetch(`/api/recordings/${id}`, { cookie })
    const text = await response.text()
    expect(text).toMatch(/before-2.*during-2/s)
    expect(text).not.toContain('after-2')
    const recordings = (await (await gateway.fetch('/api/recordings', { cookie })).json()) as RecordingList
    expect(recordings.recordings).toMatchObject([{ id, devbox_id: devboxId, devbox_name: 'held' }])
    await page.leave()
    await watcher.leave()
  })

  it('logs who opens, takes over and leaves, but no input or output', async () => {
    log.mockClear()
    const first = await open('audited', { agent: chrome })
    const second = await open('audited')
    second.ask({ t: 'takeover' })
    await first.told({ t: 'taken' })
    await second.shows(/[$#] /)
    second.type('echo secret-word\n')
    await second.shows('secret-word\r\n')
    await second.leave()
    await until(() => expect(log.mock.calls.flat().join('\n')).toMatch(/left by A program/))
    const lines = log.mock.calls.flat().filter((line) => line.includes('/audited '))
    expect(lines).toMatchObject([
      expect.stringMatching(/opened by Chrome on Linux as writer, 81x25$/),
      expect.stringMatching(/opened by A program as watcher, 81x25$/),
      expect.stringMatching(/taken over by A program$/),
      expect.stringMatching(/left by A program, \d+ bytes shown and 17 typed$/),
    ])
    expect(lines.join('\n')).not.toContain('secret')
    await first.leave()
  })
})

describe('the number of terminals', () => {
  it('is limited per account, not counting unwatched terminals', async () => {
    const stalled = await startConsole({ url: networkUrl })
    const own = await stalled.signIn(service.key)
    // No shell starts on a network that delivers nothing.
    network.stall()
    const pages = Array.from({ length: 64 }, (_, i) => new TestPage(stalled, `/api/terminals/d/t${i}`, { cookie: own }))
    await until(() => expect(terminals(stalled.registry).size).toBe(64))
    const refused = new TestPage(stalled, '/api/terminals/d/more', { cookie: own })
    expect((await refused.closed).code).toBe(terminalClose.tooMany)
    expect(refused.last('problem')?.message).toBe('This account already has 64 open terminals; close some')
    expect(terminals(stalled.registry).size).toBe(64)
    await pages[5]?.leave()
    await until(() => expect([...terminals(stalled.registry).values()].some(({ held }) => held.ends_at_ms)).toBe(true))
    const next = new TestPage(stalled, '/api/terminals/d/more', { cookie: own })
    await until(() => expect([...terminals(stalled.registry).keys()].join()).toContain(' d more'))
    expect(terminals(stalled.registry).size).toBe(64)
    await stalled.close()
    expect((await next.closed).code).toBe(terminalClose.consoleRestarting)
  })
})
