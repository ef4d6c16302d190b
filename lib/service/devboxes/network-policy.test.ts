import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '#lib/client/client.ts'
import { bubblewrapProblem } from '#lib/service/engine/bubblewrap/bubblewrap.ts'
import { startNeighbor, startOwnServer } from '#lib/service/testing/neighbor.ts'
import { runCommand } from '#lib/service/testing/process.ts'

// Requires root and a second host, because names are resolved through the service's own /etc/hosts.
const folder = mkdtempSync(join(tmpdir(), 'devdeck-policy-'))
const neighbor = (await bubblewrapProblem()) === undefined ? await startNeighbor() : undefined
const machine = await startOwnServer()
afterAll(() => {
  neighbor?.close()
  machine.close()
  rmSync(folder, { recursive: true, force: true })
})

const mountAll =
  'mount --bind "$0" /etc/hosts && { [ ! -e /usr/bin/slirp4netns ] || mount --bind /dev/null /usr/bin/slirp4netns; } && exec "$@"'

describe.skipIf(neighbor === undefined)('a devbox limited to some host names', () => {
  const { address, privateAddress, port } = neighbor ?? { address: '', privateAddress: '', port: 0 }
  let service: ReturnType<typeof runCommand>
  let client: Client
  let id: string

  beforeAll(async () => {
    const hosts = join(folder, 'hosts')
    const names = [
      ['127.0.0.1', 'localhost'],
      [address, 'registry.allowed.example', 'allowed.example', 'other.example'],
      [privateAddress, 'inner.allowed.example'],
      ['127.0.0.1', 'self.allowed.example'],
    ]
    writeFileSync(hosts, `${names.map((words) => words.join(' ')).join('\n')}\n`)
    const dataDir = join(folder, 'data')
    service = runCommand(['--port', '0', '--data-dir', dataDir, '--drain-seconds', '0'], {}, [
      ...['unshare', '--mount', '/bin/sh', '-c', mountAll, hosts],
    ])
    const baseUrl = await service.ready
    const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
    client = createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
    const policy = await client.networkPolicies.create({
      body: { name: 'some', allowed_hostnames: ['Allowed.example', '*.allowed.example'] },
    })
    const launch_parameters = { network_policy_id: policy.id }
    id = (await client.devboxes.createAndAwaitRunning({ body: { launch_parameters } })).id
  })
  afterAll(async () => {
    service.child.kill('SIGTERM')
    await service.ended
  })

  const run = async (command: string, devbox = id) => {
    const { stdout, stderr } = await client.executions.executeSync({ params: { id: devbox }, body: { command } })
    return `${stdout}${stderr}`.trim()
  }
  /** A CONNECT tunnel as used for https, without encryption. */
  const connect = (target: string) =>
    `exec 3<>/dev/tcp/127.0.0.1/\${HTTPS_PROXY##*:}; printf 'CONNECT ${target} HTTP/1.1\\r\\nHost: ${target}\\r\\n\\r\\nGET /t HTTP/1.0\\r\\nHost: t\\r\\n\\r\\n' >&3; timeout 20 cat <&3`

  it('reaches them by name, directly and through a tunnel', async () => {
    expect(
      await run(`/usr/bin/env python3 -c 'import urllib.request as u
print(u.urlopen(u.Request("http://registry.allowed.example:${port}/x?y", b"12345")).read().decode())'`),
    ).toBe(`POST registry.allowed.example:${port}/x?y 5`)
    expect(await run(connect(`allowed.example:${port}`))).toMatch(/200 Connection established[\s\S]*GET t\/t 0$/)
  })

  it('blocks other names and logs each once', async () => {
    for (const _ of [1, 2])
      expect(await run(connect(`other.example:${port}`))).toMatch(/403[\s\S]*not allowed by this devbox/)
    expect(await run(connect(`${address}:${port}`))).toMatch(/403/)
    expect(await run(connect(`[::ffff:${address}]:${port}`))).toMatch(/403/)
    const { logs } = await client.logs.list({ params: { id } })
    const refusals = logs.map(({ message }) => message ?? '').filter((message) => message.startsWith('Blocked'))
    expect(refusals.filter((message) => message.includes('other.example'))).toEqual([
      `Blocked: other.example:${port} is not allowed by the devbox's network policy`,
    ])
  })

  const send = (line: string, host: string) =>
    run(
      `exec 3<>/dev/tcp/127.0.0.1/\${HTTPS_PROXY##*:}; printf '${line} HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n' >&3; timeout 20 head -c 4096 <&3`,
    )

  it.each([
    ['a different Host header', `GET http://allowed.example:${port}/n`, 'other.example', /GET allowed\.example:/],
    ['a closed port', 'CONNECT allowed.example:22', 'allowed.example:22', /502[\s\S]*Could not connect/],
  ])("uses the target's name, with %s", async (_, line, host, expected) => {
    expect(await send(line, host)).toMatch(expected)
  })

  it.each([
    ['an allowed Host header', `GET http://header.example:${port}/n`, `header.example:${port}`],
    ['an allowed name as the user', `CONNECT allowed.example@user.example:${port}`, `user.example:${port}`],
    ['the same suffix', `CONNECT evilallowed.example:${port}`, `evilallowed.example:${port}`],
    ['an address', `CONNECT 93.184.216.34:${port}`, `93.184.216.34:${port}`],
    ['an address as an integer', 'CONNECT 1572395043:80', '93.184.216.35:80'],
    ['an IPv6 address', 'CONNECT [2606:2800:220:1::1]:443', '[2606:2800:220:1::1]:443'],
  ])('blocks and logs a target with %s', async (_, line, target) => {
    expect(await send(line, `allowed.example:${port}`)).toMatch(/^HTTP\/1\.1 403 /)
    const logged = async () => (await client.logs.list({ params: { id } })).logs.map(({ message }) => message)
    await expect.poll(logged).toContain(`Blocked: ${target} is not allowed by the devbox's network policy`)
  })

  it('blocks allowed names that resolve to private or host addresses', async () => {
    expect(await run(connect(`inner.allowed.example:${port}`))).toMatch(/403[\s\S]*private address/)
    expect(await run(connect(`self.allowed.example:${machine.port}`))).toMatch(/403[\s\S]*private address/)
  })

  it('has no other network access', async () => {
    expect(await run(`cat < /dev/tcp/${address}/${port}`)).toMatch(/unreachable/)
    expect(await run(`cat < /dev/tcp/127.0.0.1/${machine.port}`)).toMatch(/refused/)
    expect(await run('tail -n +3 /proc/net/dev | cut -d: -f1')).toBe('lo')
  })

  it('refuses a policy that allows devboxes', async () => {
    const body = { name: 'group', allow_devbox_to_devbox: true }
    const { id: network_policy_id } = await client.networkPolicies.create({ body })
    await expect(client.devboxes.create({ body: { launch_parameters: { network_policy_id } } })).rejects.toMatchObject({
      code: 'not_implemented',
    })
  })

  it('lets other devboxes reach any public name through the proxy', async () => {
    const other = await client.devboxes.createAndAwaitRunning({ body: {} })
    expect(other.isolation?.not_enforced.join()).toContain('Network: outbound goes through an HTTP proxy only (slirp4')
    const { logs } = await client.logs.list({ params: { id: other.id } })
    expect(logs.map(({ message }) => message ?? '').join()).toContain('through an HTTP proxy only')
    expect(await run(connect(`other.example:${port}`), other.id)).toMatch(/GET t\/t 0$/)
    expect(await run(connect(`inner.allowed.example:${port}`), other.id)).toMatch(/403[\s\S]*private address/)
    expect(await run(connect(`127.0.0.1:${machine.port}`), other.id)).toMatch(/403/)
    expect(await run(`cat < /dev/tcp/${address}/${port}`, other.id)).toMatch(/unreachable/)
  })
})
