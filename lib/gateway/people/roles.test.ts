import { rmSync, symlinkSync } from 'node:fs'
import { request as send } from 'node:http'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { endpoints } from '#lib/contract/index.ts'
import { listFolderCommand } from '#lib/protocol/list-folder.ts'
import { leastRole, type Role } from '#lib/protocol/roles.ts'
import { terminalClose } from '#lib/protocol/terminals.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { newSession, sessionCookie } from '../accounts/session-cookie.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { groupsIn, readRoleRules, roleByRules } from './role-rules.ts'
import { roleRules } from './roles.ts'
import { makeRolesFile, testRules } from './testing.ts'

const { file, write: writeRules, remove } = makeRolesFile()
const rules = testRules

let service: TestService
let upstream: Awaited<ReturnType<typeof startServer>>
let gateway: TestConsole
let account: { id: string; name: string }
let received: string[] = []

beforeAll(async () => {
  service = await startService()
  // In front of the real service, to see what reaches it.
  upstream = await startServer((request, response) => {
    received.push(`${request.method} ${request.url}`)
    const { method = 'GET', url = '/', headers: given } = request
    const headers = { ...given, host: new URL(service.url).host }
    const forwarded = send(new URL(url, service.url), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    response.on('close', () => forwarded.destroy())
    request.pipe(forwarded)
  })
  upstream.server.on('upgrade', ({ method, url, headers }, socket, head) => {
    const { host, port } = new URL(service.url)
    const forwarded = connect(Number(port), '127.0.0.1')
    const lines = Object.entries({ ...headers, host }).map(([name, value]) => `${name}: ${value}\r\n`)
    forwarded.write(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`)
    forwarded.write(head)
    socket.pipe(forwarded).pipe(socket)
    for (const each of [socket, forwarded]) each.on('error', () => [socket, forwarded].map((one) => one.destroy()))
  })
  gateway = await startConsole({ url: upstream.url }, { roles: { file, rules } })
  account = await service.client.accounts.me()
})
afterAll(async () => {
  await gateway.close()
  upstream.close()
  await service.close()
  remove()
})
afterEach(async () => {
  vi.restoreAllMocks()
  writeRules(rules)
  await vi.waitFor(() => expect(roleRules()).toEqual(rules))
})

const signedIn = async (...groups: string[]): Promise<string> => {
  const header = (name: string) => (name === 'host' ? new URL(gateway.url).host : null)
  const session = newSession(account, service.key, { person: `${groups[0]}@example.com`, groups })
  return (await sessionCookie(header, session)).split(';')[0] ?? ''
}

/** The status of an endpoint, without waiting for the body of a stream. */
const statusOf = async (cookie: string, method: string, path: string): Promise<number> => {
  const leaving = new AbortController()
  const headers = { 'content-type': 'application/json' }
  const body = method === 'GET' ? {} : { body: '{}' }
  const { status } = await gateway.fetch(`/api${path}`, { cookie, method, headers, ...body, signal: leaving.signal })
  leaving.abort()
  return status
}

const offered = endpoints.filter(
  ({ path, scope, response }) => path.startsWith('/v1/') && scope !== 'local' && response.kind !== 'websocket',
)
const filled = (path: string) => path.replace(/:\w+/g, 'none_1')

describe('over the whole contract', () => {
  const writes = offered.filter((endpoint) => leastRole(endpoint) !== 'viewer')
  const reads = offered.filter((endpoint) => leastRole(endpoint) === 'viewer')

  it('counts every operation that is neither a GET nor listed as a read as a write', () => {
    expect(reads.filter(({ method }) => method !== 'GET').map(({ id }) => id)).toEqual([
      'axons.query',
      'axons.batch',
      'blueprints.preview',
      'devboxes.waitForStatus',
      'executions.waitForStatus',
      'files.read',
      'files.download',
      'scenarioRuns.downloadLogs',
      'benchmarkRuns.downloadLogs',
    ])
    expect(leastRole({ id: 'futures.invent', method: 'PATCH' })).toBe('member')
  })

  it('refuses every write of a viewer with 403, before the service', async () => {
    const viewer = await signedIn('everyone')
    received = []
    for (const { id, method, path } of writes)
      expect([id, await statusOf(viewer, method, filled(path))]).toEqual([id, 403])
    expect(received).toEqual([])
  })

  it('denies a member what only operators may do', async () => {
    const member = await signedIn('research')
    received = []
    const refused = writes.filter((endpoint) => leastRole(endpoint) === 'operator')
    expect(refused.length).toBeGreaterThan(5)
    for (const { method, path } of refused) expect(await statusOf(member, method, filled(path))).toBe(403)
    expect(received).toEqual([])
  })

  it('passes the reads of a viewer to the service', async () => {
    const viewer = await signedIn('everyone')
    for (const { id, method, path, returnsCredential } of reads) {
      if (returnsCredential || id.startsWith('axons.')) continue
      received = []
      expect([id, await statusOf(viewer, method, filled(path))]).not.toEqual([id, 403])
      expect([id, received.length]).toEqual([id, 1])
    }
  })
})

it('names who may do it', async () => {
  const answer = await gateway.ask(await signedIn('everyone'), 'POST', '/api/v1/devboxes', {})
  expect(answer.body).toMatchObject({
    code: 'forbidden',
    message: "Viewers can't do this. Ask a member or an operator.",
  })
  const secret = { name: 'A', value: 'b' }
  expect((await gateway.ask(await signedIn('research'), 'POST', '/api/v1/secrets', secret)).body.message).toBe(
    "Members can't do this. Ask an operator.",
  )
  expect((await gateway.ask(await signedIn('platform'), 'POST', '/api/v1/secrets', secret)).status).toBe(200)
})

it('lets a viewer query an axon only with SQL that reads', async () => {
  const { id } = await service.client.axons.create({ body: { name: 'numbers' } })
  const viewer = await signedIn('everyone')
  const query = (sql: string) => gateway.ask(viewer, 'POST', `/api/v1/axons/${id}/sql/query`, { sql })
  expect((await query('select 1')).status).toBe(200)
  for (const sql of ['create table t (a)', 'select 1; create table t (a)', 'with t as (select 1) delete from u'])
    expect((await query(sql)).status).toBe(403)
  // The service reads `statements` here, whatever else the body has.
  const batch = { sql: 'select 1', statements: [{ sql: 'create table t (a)' }] }
  expect((await gateway.ask(viewer, 'POST', `/api/v1/axons/${id}/sql/batch`, batch)).status).toBe(403)
})

it('lets a viewer list folders of a devbox, and run no other command', async () => {
  const devbox = await service.devbox()
  const viewer = await signedIn('everyone')
  const run = (body: unknown) => gateway.ask(viewer, 'POST', `/api/v1/devboxes/${devbox}/execute_sync`, body)
  const hostile = "/tmp/it's; touch /tmp/made $(touch /tmp/made)\n`touch /tmp/made`"
  expect((await run({ command: listFolderCommand('/') })).body).toMatchObject({ exit_status: 0 })
  expect((await run({ command: listFolderCommand(hostile) })).body).toMatchObject({ exit_status: 1, stdout: '' })
  const listing = listFolderCommand('/tmp', { offset: 1, sort: { descending: true, column: 'size' } })
  expect((await run({ command: listing })).body).toMatchObject({ exit_status: 0 })
  received = []
  for (const body of [
    { command: 'ls' },
    { command: `${listing}; ls` },
    { command: `${listing}\nls` },
    { command: listing.replace('/tmp', '/etc') },
    { command: listing.replace('"offset":1', '"offset":"$(ls)"') },
    { command: listFolderCommand('/a\0b') },
    { command: listing, shell_name: 'main' },
  ])
    expect([body, (await run(body)).status]).toEqual([body, 403])
  expect(received).toEqual([])
}, 60_000)

it.each([
  ['POST', '/api/alerts/silences'],
  ['POST', '/api/alerts/receivers'],
  ['POST', '/api/alerts/push'],
  ['POST', '/api/judgment/labels'],
  ['POST', '/api/demo'],
  ['POST', '/api/shares'],
  ['POST', '/api/reveal'],
  ['POST', '/api/objects'],
  ['DELETE', '/api/terminals/dbx_1/main'],
  ['DELETE', '/api/recordings/rec_1'],
  ['POST', '/api/cluster/nodes/n/drain'],
])("denies a viewer the console's own %s %s", async (method, path) => {
  expect((await gateway.ask(await signedIn('everyone'), method, path, method === 'POST' ? {} : undefined)).status).toBe(
    403,
  )
})

it('lets only operators change receivers of alerts', async () => {
  const post = async (cookie: string) => (await gateway.ask(cookie, 'POST', '/api/alerts/receivers', {})).body.message
  expect(await post(await signedIn('research'))).toBe("Members can't do this. Ask an operator.")
  expect(await post(await signedIn('platform'))).not.toMatch(/Ask an operator/)
})

describe("a viewer's terminal", () => {
  const open = async (cookie: string, devbox: string) => {
    const page = new WebSocket(
      `${gateway.url.replace('http', 'ws')}/api/terminals/${devbox}/main?cols=80&rows=24&client=${cookie.slice(-8).replace(/\W/g, '')}`,
      { headers: { cookie, origin: gateway.url } },
    )
    let screen = ''
    // biome-ignore lint/suspicious/noExplicitAny: tests assert the shape
    const notices: any[] = []
    page.on('message', (data: Buffer, isBinary) => {
      if (isBinary) screen += data
      else notices.push(JSON.parse(String(data)))
    })
    const closed = new Promise<number>((resolve) => page.once('close', resolve))
    return { page, notices, closed, screen: () => screen }
  }

  it('starts no shell, follows one, and types nothing into it', async () => {
    const devbox = await service.devbox()
    const viewer = await signedIn('everyone')
    const early = await open(viewer, devbox)
    await expect.poll(() => early.notices).toContainEqual(expect.objectContaining({ t: 'problem', code: 'forbidden' }))
    expect(await early.closed).toBe(terminalClose.followOnly)
    const writer = await open(await signedIn('research'), devbox)
    await expect.poll(() => writer.notices.find(({ t }) => t === 'ready')?.role).toBe('writer')
    const follower = await open(viewer, devbox)
    await expect.poll(() => follower.notices.find(({ t }) => t === 'ready')?.role).toBe('watcher')
    follower.page.send(Buffer.from('echo in$((1))truder\n'))
    follower.page.send(JSON.stringify({ t: 'takeover' }))
    await expect
      .poll(() => follower.notices)
      .toContainEqual(expect.objectContaining({ t: 'problem', code: 'forbidden' }))
    writer.page.send(Buffer.from('echo own$((1))er\n'))
    await expect.poll(() => follower.screen(), { timeout: 10_000 }).toContain('own1er')
    expect(follower.screen()).not.toContain('truder')
    for (const { page } of [early, writer, follower]) page.close()
  }, 30_000)
})

describe('rules', () => {
  const roleNow = async (cookie: string): Promise<Role | number> => {
    const { status, body } = await gateway.ask(cookie, 'GET', '/api/session')
    return status === 200 ? body.role : status
  }

  it('apply to existing sessions as soon as the file changes, and stay in force when the new file is broken', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const cookie = await signedIn('everyone', 'guests')
    expect(await roleNow(cookie)).toBe('viewer')
    writeRules({ ...rules, rules: [...rules.rules, { group: 'guests', role: 'member' }] })
    await expect.poll(() => roleNow(cookie)).toBe('member')
    writeRules('{')
    await expect
      .poll(async () => {
        expect(await roleNow(cookie)).toBe('member')
        return String(logged.mock.calls)
      })
      .toContain('stay in force')
    writeRules({ ...rules, rules: [] })
    await expect.poll(() => roleNow(cookie)).toBe(401)
  })

  it('stay in force while the file cannot even be looked up', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const cookie = await signedIn('everyone')
    rmSync(file)
    symlinkSync(file, file)
    await expect
      .poll(async () => {
        expect(await roleNow(cookie)).toBe('viewer')
        return String(logged.mock.calls)
      })
      .toContain('stay in force')
  })

  it('end a live connection when they change its role', async () => {
    const cookie = await signedIn('everyone', 'guests')
    const page = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/live`, {
      headers: { cookie, origin: gateway.url },
    })
    const closed = new Promise<number>((resolve) => page.once('close', resolve))
    await new Promise((resolve) => page.once('message', resolve))
    writeRules({ ...rules, rules: [{ group: 'guests', role: 'member' }] })
    expect(await closed).toBe(1012)
  })

  it('give the highest role of all groups, in the account they name', () => {
    const role = (...groups: string[]) => roleByRules(rules, { groups, account: 'a' })
    expect([role(), role('everyone'), role('platform', 'everyone'), role('other')]).toEqual([
      null,
      'viewer',
      'operator',
      null,
    ])
    const only = {
      ...rules,
      default: 'viewer' as const,
      rules: [{ group: 'g', role: 'operator' as const, account: 'a' }],
    }
    expect(roleByRules(only, { groups: ['g'], account: 'a' })).toBe('operator')
    expect(roleByRules(only, { groups: ['g'], account: 'b' })).toBe('viewer')
  })

  it('find groups in nested claims and in claims named by a URL', () => {
    expect(groupsIn({ ...rules, claim: 'realm_access.roles' }, { realm_access: { roles: ['a', 1] } })).toEqual(['a'])
    const claim = 'https://example.com/groups'
    expect(groupsIn({ ...rules, claim }, { [claim]: 'a' })).toEqual(['a'])
    expect(groupsIn(rules, {})).toBeUndefined()
  })

  it('name their problems', () => {
    writeRules({ claim: 'groups', default: 'admin', rules: [{ group: 'a', role: 'viewer', extra: 1 }] })
    expect(() => readRoleRules(file)).toThrow(/default .*rules\.0 /)
    writeRules('{"claim"')
    expect(() => readRoleRules(file)).toThrow(/is not valid JSON/)
  })

  it('may have a byte order mark and Windows line endings', () => {
    writeRules(`\uFEFF${JSON.stringify(rules, null, 2).replaceAll('\n', '\r\n')}`)
    expect(readRoleRules(file)).toEqual(rules)
  })
})

it('accepts no API key where single sign-on is the only way in', async () => {
  const before = await gateway.signIn(service.key)
  gateway.registry.config.isSignOnOnly = true
  try {
    expect((await gateway.ask('', 'POST', '/api/session', { api_key: service.key })).body.message).toMatch(
      /single sign-on/,
    )
    expect((await gateway.ask(before, 'GET', '/api/session')).status).toBe(401)
    expect((await gateway.ask(await signedIn('everyone'), 'GET', '/api/session')).status).toBe(200)
  } finally {
    gateway.registry.config.isSignOnOnly = false
  }
})
