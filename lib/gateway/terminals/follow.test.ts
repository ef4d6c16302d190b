import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '#lib/protocol/roles.ts'
import { terminalClose } from '#lib/protocol/terminals.ts'
import type { TestService } from '#lib/service/testing/service.ts'
import { newSession, sessionCookie } from '../accounts/session-cookie.ts'
import type { RoleRules } from '../people/role-rules.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { followStore } from './follow-store.ts'
import { startTerminals, TestPage, until } from './testing.ts'

let service: TestService
let gateway: TestConsole
let cookie: string
let devboxId: string
const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-follow-'))
beforeAll(async () => {
  ;({ service, gateway, cookie, devboxId } = await startTerminals({ dataDir }))
})
afterAll(async () => {
  await gateway.close()
  await service.close()
  rmSync(dataDir, { recursive: true })
})

const open = async (name: string, own = cookie) => {
  const page = new TestPage(gateway, `/api/terminals/${devboxId}/${name}?cols=80&rows=24`, { cookie: own })
  await page.told({ t: 'people' })
  return page
}
const linkOf = async (page: TestPage) => {
  page.ask({ t: 'follow', on: true })
  await page.told({ t: 'follow', path: expect.stringMatching(/^\/follow\/[\w-]{32}$/) as unknown as string })
  return page.last('follow')?.path?.slice('/follow/'.length) ?? ''
}
const follow = (token: string, options = {}) => new TestPage(gateway, `/api/follow/${token}?cols=50&rows=10`, options)
const wrongToken = 'A'.repeat(32)

describe('a read-only link', () => {
  it('shows the terminal without signing in, and nothing else', async () => {
    const writer = await open('shown')
    await writer.shows(/[$#] /)
    const token = await linkOf(writer)
    const follower = follow(token)
    await follower.told({ t: 'people', role: 'watcher' })
    expect(follower.last('ready')).toMatchObject({ cols: 80, rows: 24, role: 'watcher' })
    await until(() => expect(writer.last('people')?.viewers).toHaveLength(2))
    expect(writer.last('people')?.viewers[1]).toMatchObject({ follower: true })
    follower.type('echo no-$((1+1))\n')
    for (const request of ['takeover', 'close', 'record', 'follow', 'resize', 'signal'])
      follower.ask({ t: request, on: true, cols: 20, rows: 5, signal: 'SIGKILL' })
    follower.socket.send('not json')
    follower.ask({ t: 'ping', id: 9 })
    await follower.told({ t: 'pong', id: 9 })
    writer.type('echo seen-$((1+1)); stty size\n')
    await follower.shows(/seen-2\r\n24 80/)
    expect(writer.shown).not.toContain('no-2')
    expect(follower.notices.map(({ t }) => t)).not.toContain('problem')
    expect(follower.notices.map(({ t }) => t)).not.toContain('follow')
    await follower.leave()
    await writer.leave()
  })

  it('stays the same until it is revoked, which disconnects its viewers', async () => {
    const writer = await open('revoked')
    const token = await linkOf(writer)
    expect(await linkOf(writer)).toBe(token)
    const later = await open('revoked')
    expect(later.last('follow')?.path).toContain(token)
    const follower = follow(token)
    await follower.told({ t: 'ready' })
    writer.ask({ t: 'follow', on: false })
    expect((await follower.closed).code).toBe(terminalClose.linkEnded)
    await later.told({ t: 'follow', path: null })
    expect((await follow(token).refused()).status).toBe(404)
    expect((await gateway.fetch(`/api/follow/${token}`)).status).toBe(404)
    expect(await linkOf(writer)).not.toBe(token)
    await writer.leave()
    await later.leave()
  })

  it('cannot be created by a page that only watches', async () => {
    const writer = await open('watched')
    const watcher = await open('watched')
    watcher.ask({ t: 'follow', on: true })
    await watcher.told({ t: 'problem', code: 'conflict' })
    expect(watcher.last('follow')).toBeUndefined()
    await writer.leave()
    await watcher.leave()
  })

  it('expires when its creator signs out, even if another session keeps the terminal open', async () => {
    const own = await gateway.signIn(service.key)
    const maker = await open('left', own)
    const other = await open('left')
    const token = await linkOf(maker)
    const follower = follow(token)
    await follower.told({ t: 'ready' })
    await gateway.fetch('/api/session', { method: 'DELETE', cookie: own })
    expect((await follower.closed).code).toBe(terminalClose.linkEnded)
    expect((await maker.closed).code).toBe(terminalClose.signedOut)
    expect((await follow(token).refused()).status).toBe(404)
    other.ask({ t: 'takeover' })
    await other.shows(/[$#] /)
    other.type('echo stays-$((1+1))\n')
    await other.shows('stays-2')
    await other.leave()
  })

  it('expires with the shell', async () => {
    const writer = await open('ends')
    const token = await linkOf(writer)
    const follower = follow(token)
    await follower.told({ t: 'ready' })
    await writer.shows(/[$#] /)
    writer.type('exit 3\n')
    expect((await follower.closed).code).toBe(terminalClose.shellEnded)
    expect(follower.last('exit')).toMatchObject({ code: 3 })
    expect((await follow(token).refused()).status).toBe(404)
  })

  it('allows twenty viewers', async () => {
    const writer = await open('crowd')
    const token = await linkOf(writer)
    const crowd = Array.from({ length: 20 }, () => follow(token))
    await Promise.all(crowd.map((each) => each.told({ t: 'ready' })))
    const refused = follow(token)
    expect((await refused.closed).code).toBe(terminalClose.tooMany)
    expect(refused.last('problem')?.message).toBe('This terminal already has 20 followers')
    await Promise.all(crowd.map((each) => each.leave()))
    await writer.leave()
  })

  it('does not bypass origin checks', async () => {
    const writer = await open('foreign')
    const token = await linkOf(writer)
    expect((await follow(token, { origin: 'https://evil.example' }).refused()).status).toBe(403)
    expect((await follow(token, { headers: { host: 'evil.example' } }).refused()).status).toBe(403)
    expect((await gateway.fetch(`/api/follow/${token}`, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(
      403,
    )
    await writer.leave()
  })

  it('limits guessing', async () => {
    const writer = await open('guessed')
    const token = await linkOf(writer)
    const answers = await Promise.all(Array.from({ length: 30 }, () => follow(wrongToken).refused()))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404, 429]))
    const follower = follow(token)
    await follower.told({ t: 'ready' })
    await follower.leave()
    await writer.leave()
  })

  it('survives its console until it is revoked or its creator signs out', async () => {
    const leaving = await gateway.signIn(service.key)
    const before = await open('outlives')
    const other = await open('outlives-too', leaving)
    await other.shows(/[$#] /)
    const [token, endedToken] = [await linkOf(before), await linkOf(other)]
    before.type('echo here-$((1+1))\n')
    await before.shows('here-2')
    const follower = follow(token)
    await follower.shows('here-2')
    await gateway.close()
    expect((await follower.closed).code).toBe(terminalClose.consoleRestarting)

    gateway = await startConsole({ url: service.url }, { dataDir })
    // The cookie's name contains the port.
    const same = (own: string) => own.replace(/_\d+=/, `_${new URL(gateway.url).port}=`)
    expect(await (await gateway.fetch(`/api/follow/${token}`)).json()).toEqual({ name: 'outlives', title: '' })
    const again = follow(token)
    await again.shows('here-2')
    const after = await open('outlives', same(cookie))
    await after.told({ t: 'follow', path: `/follow/${token}` })
    after.ask({ t: 'takeover' })
    after.ask({ t: 'follow', on: false })
    expect((await again.closed).code).toBe(terminalClose.linkEnded)
    expect((await follow(token).refused()).status).toBe(404)
    await gateway.fetch('/api/session', { method: 'DELETE', cookie: same(leaving) })
    expect((await follow(endedToken).refused()).status).toBe(404)
    await after.leave()
  })

  it('ends if its creator became a viewer while the console was down', async () => {
    const restart = async (role: Role) => {
      const rules: RoleRules = { claim: 'groups', default: role, rules: [] }
      await gateway.close()
      gateway = await startConsole({ url: service.url }, { dataDir, roles: { file: '/nowhere/roles.json', rules } })
    }
    await restart('member')
    const header = (name: string) => (name === 'host' ? new URL(gateway.url).host : null)
    const account = await service.client.accounts.me()
    const session = newSession(account, service.key, { person: 'ann', groups: [] })
    const token = await linkOf(await open('fallen', (await sessionCookie(header, session)).split(';')[0]))
    const target = { account_id: account.id, devbox_id: devboxId, name: 'fallen' }
    await until(async () => expect(await followStore().of(target)).toBeDefined())
    await restart('member')
    expect((await gateway.fetch(`/api/follow/${token}`)).status).toBe(200)
    await restart('viewer')
    expect((await gateway.fetch(`/api/follow/${token}`)).status).toBe(404)
  })
})
