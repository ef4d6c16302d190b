import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '#lib/client/client.ts'
import type { NetworkPolicyUpdate } from '#lib/contract/network-policies.ts'
import { findProcesses } from '#lib/service/engine/processes.ts'
import { sharedDocker } from '#lib/service/testing/docker.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import { startNeighbor, startOwnServer } from '#lib/service/testing/neighbor.ts'
import { runCommand } from '#lib/service/testing/process.ts'

// Names are resolved through the service's own /etc/hosts.
const folder = mkdtempSync(join(tmpdir(), 'devdeck-container-policy-'))
const neighbor = hasDocker ? await startNeighbor() : undefined
const machine = await startOwnServer()
afterAll(() => {
  neighbor?.close()
  machine.close()
  rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(neighbor === undefined)('a container limited to some host names', () => {
  const { address, privateAddress, port } = neighbor ?? { address: '', privateAddress: '', port: 0 }
  let service: ReturnType<typeof runCommand>
  let client: Client
  let network_policy_id: string
  let id: string

  beforeAll(async () => {
    const docker = await sharedDocker()
    const hosts = join(folder, 'hosts')
    writeFileSync(
      hosts,
      `127.0.0.1 localhost\n${address} allowed.example sub.allowed.example other.example\n${privateAddress} inner.allowed.example\n`,
    )
    const dataDir = join(folder, 'data')
    const options = ['--isolation', 'container', '--engine', docker.url, '--image', await docker.image('base')]
    service = runCommand(['--port', '0', '--data-dir', dataDir, '--drain-seconds', '0', ...options], {}, [
      ...['unshare', '--mount', '/bin/sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"', hosts],
    ])
    const baseUrl = await service.ready
    const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
    client = createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
    const body = { name: 'some', allowed_hostnames: ['allowed.example', '*.allowed.example'] }
    network_policy_id = (await client.networkPolicies.create({ body })).id
    id = await create()
  })
  afterAll(async () => {
    service?.child.kill('SIGTERM')
    await service?.ended
  })

  const create = async () =>
    (await client.devboxes.createAndAwaitRunning({ body: { launch_parameters: { network_policy_id } } })).id
  const run = async (command: string, devbox = id) => {
    const { stdout, stderr } = await client.executions.executeSync({ params: { id: devbox }, body: { command } })
    return `${stdout}${stderr}`.trim()
  }
  const send = (line: string, more = '') =>
    `bash -c 'exec 3<>"/dev/tcp/\${HTTP_PROXY:7:-6}/\${HTTP_PROXY##*:}"; printf "${line} HTTP/1.1\\r\\nHost: h\\r\\nConnection: close\\r\\n\\r\\n${more}" >&3; timeout 20 cat <&3'`
  const open = (url: string) => send(`GET ${url}`)
  const dial = (host: string, to: number) => `timeout 3 bash -c 'exec 3<>/dev/tcp/${host}/${to}' 2>&1 && echo connected`
  /** Bypasses routes by binding to the interface. */
  const dialBound = (host: string, to: number) => `python3 -c 'import socket
s = socket.socket()
s.settimeout(3)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0")
s.connect(("${host}", ${to}))
print("connected")' 2>&1 | tail -n 1`
  const gateway = (devbox = id) => run(`awk '$2 == "00000000" { print $3 }' /proc/net/route`, devbox).then(hexAddress)
  const notEnforced = async () => (await client.devboxes.get({ params: { id } })).isolation?.not_enforced.join('\n')
  const proxyOf = (devbox: string) => findProcesses({ DEVDECK_DEVBOX_ID: devbox })

  it('reaches them by name, and logs other names once', async () => {
    expect(await run(open(`http://sub.allowed.example:${port}/x?y`))).toMatch(`GET sub.allowed.example:${port}/x?y 0`)
    for (const _ of [1, 2]) expect(await run(open(`http://other.example:${port}/`))).toMatch(/403/)
    expect(await run(open(`http://inner.allowed.example:${port}/`))).toMatch(/403/)
    const { logs } = await client.logs.list({ params: { id } })
    const blocked = logs.map(({ message }) => message ?? '').filter((message) => message.startsWith('Blocked'))
    expect(blocked).toEqual([
      `Blocked: other.example:${port} is not allowed by the devbox's network policy`,
      `Blocked: inner.allowed.example:${port} resolves to a host or private address (${privateAddress})`,
    ])
  })

  it('keeps half-closed tunnels open', async () => {
    const tunnel = `python3 -c 'import os,socket
host,port=os.environ["HTTPS_PROXY"].split("/")[-1].split(":")
s=socket.create_connection((host,int(port)))
s.sendall(b"CONNECT allowed.example:${port} HTTP/1.1\\r\\nHost: a\\r\\n\\r\\nGET /t HTTP/1.0\\r\\nHost: t\\r\\n\\r\\n")
s.shutdown(1)
print(s.makefile().read())'`
    expect(await run(tunnel)).toMatch(/200 Connection established[\s\S]*GET t\/t 0$/)
  })

  it('has no route to anything but the proxy', async () => {
    const other = await create()
    expect(await run(dial(address, port))).toMatch(/not permitted/)
    for (const host of [neighbor?.own ?? '', await gateway()])
      for (const command of [dial(host, machine.port), dialBound(host, machine.port)])
        expect(await run(command)).toMatch(/not permitted/)
    expect(await notEnforced()).not.toContain('Network')
    await run(
      '(python3 -c "import socket,time; s=socket.create_server((str(),8000)); time.sleep(1000)" & ) >/dev/null 2>&1',
    )
    const own = await run('hostname -I')
    await expect.poll(() => run(dial(own, 8000))).toBe('connected')
    expect(await run(dial(own, 8000), other)).not.toContain('connected')
    await client.devboxes.shutdown({ params: { id: other } })
    await expect.poll(() => proxyOf(other)).toEqual([])
  })

  it('restarts its proxy', async () => {
    const [first = 0] = proxyOf(id)
    process.kill(first, 'SIGKILL')
    await expect.poll(() => run(open(`http://allowed.example:${port}/x`))).toMatch(`GET allowed.example:${port}/x 0`)
    expect(proxyOf(id)).not.toContain(first)
  })

  it('follows a change of its policy when it is resumed', async () => {
    const resumed = async (body: NetworkPolicyUpdate) => {
      await client.networkPolicies.update({ params: { id: network_policy_id }, body })
      await client.devboxes.suspend({ params: { id } })
      await client.devboxes.waitForStatus({ params: { id }, body: { statuses: ['suspended'] } })
      expect(proxyOf(id)).toEqual([])
      await client.devboxes.resume({ params: { id } })
      await client.devboxes.waitForStatus({ params: { id }, body: { statuses: ['running'] } })
    }
    await resumed({ allow_all: true })
    expect(await run(`echo "[$HTTP_PROXY]"; ${dial(address, port)}`)).toBe('[]\nconnected')
    const blocked = [
      dial(privateAddress, port),
      dial(await gateway(), machine.port),
      `echo >/dev/udp/${privateAddress}/54`,
    ]
    for (const command of blocked) expect(await run(command)).toMatch(/not permitted/)
    expect(await run(dialBound(neighbor?.own ?? '', machine.port))).toMatch(/not permitted/)
    expect(await run(`echo >/dev/udp/${privateAddress}/53`)).toBe('')
    expect(await notEnforced()).not.toContain('Network')
    await resumed({ allow_all: false, allow_devbox_to_devbox: false, allowed_hostnames: ['other.example'] })
    expect(await run(dial(address, port))).toMatch(/not permitted/)
    expect(await run(open(`http://other.example:${port}/x`))).toMatch(`GET other.example:${port}/x 0`)
    expect(await run(open(`http://allowed.example:${port}/x`))).toMatch(/403/)
    await resumed({ allow_all: false, allow_devbox_to_devbox: false, allowed_hostnames: [] })
    expect(await run('ls /sys/class/net')).toBe('lo')
  })
})

const hexAddress = (word: string) => Buffer.from(word, 'hex').reverse().join('.')
