import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NetworkPolicyCreate } from '#lib/contract/network-policies.ts'
import { runsLongSwarmTests } from '#lib/service/testing/has-swarm.ts'
import { startOwnServer } from '#lib/service/testing/neighbor.ts'
import { startOutside } from '#lib/service/testing/outside.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { sharedSwarm } from '#lib/service/testing/swarm.ts'

type Swarm = Awaited<ReturnType<typeof sharedSwarm>>

const ports = [2375, 2376, 2377, 4789, 7946]

/** Sends a request to the proxy with the credentials of HTTP_PROXY, or others. */
const send = (line: string, proxy = '$HTTP_PROXY') => `bash -c 'proxy=\${1#http://}
at=\${proxy##*@}
exec 3<>"/dev/tcp/\${at%:*}/\${at##*:}"
token=$(printf %s "\${proxy%@*}" | base64 --wrap 0)
printf "${line} HTTP/1.1\\r\\nHost: h\\r\\nProxy-Authorization: Basic $token\\r\\nConnection: close\\r\\n\\r\\n" >&3
timeout 20 cat <&3' sh "${proxy}"`
const open = (url: string, proxy?: string) => send(`GET ${url}`, proxy)
const serve = `(python3 -c 'import socket
for connection, _ in iter(socket.create_server(("", 8000)).accept, 0):
    connection.sendall(b"hello")
    connection.close()' &) >/dev/null 2>&1`
const read = (host: string) => `timeout 5 bash -c 'exec 3<>/dev/tcp/${host}/8000 && cat <&3' 2>/dev/null`

describe.skipIf(!runsLongSwarmTests)('the networks of devboxes in a swarm', () => {
  let swarm: Swarm
  let service: TestService
  let outside: Awaited<ReturnType<typeof startOutside>>
  let machine: Awaited<ReturnType<typeof startOwnServer>>
  beforeAll(async () => {
    swarm = await sharedSwarm()
    const address = `203.0.113.${swarm.manager.address.split('.')[2]}`
    outside = await startOutside(swarm.folder, {
      'allowed.example': address,
      'other.example': address,
      'node.example': swarm.manager.address,
    })
    machine = await startOwnServer()
    const choice = { url: swarm.manager.url, placement: [], reserved: { cpu: 0.1, memory: 0.1 } }
    service = await startService({ engine: 'swarm', swarm: choice, image: await swarm.image('base') })
  })
  afterAll(async () => {
    machine?.close()
    outside?.close()
    // They would continue without the service.
    await Promise.all(made.map((id) => service.client.devboxes.shutdown({ params: { id } })))
    await service?.close()
  })

  const made: string[] = []
  let policies = 0
  const policy = async (rules: Omit<NetworkPolicyCreate, 'name'>) =>
    (await service.client.networkPolicies.create({ body: { name: `policy ${++policies}`, ...rules } })).id
  const create = async ({ node, ...options }: { node?: number; network_policy_id?: string; name?: string }) => {
    const { network_policy_id, name } = options
    const id = await service.devbox({
      ...(name !== undefined && { name }),
      ...(network_policy_id !== undefined && { launch_parameters: { network_policy_id } }),
      ...(node !== undefined && { metadata: { 'devdeck.placement': `node.hostname==node-${node}` } }),
    })
    made.push(id)
    await service.reach(id, 'running')
    return id
  }
  const run = async (id: string, command: string) => {
    const { stdout, stderr } = await service.run(id, command)
    return `${stdout}${stderr}`.trim()
  }
  const addressOf = (id: string) => run(id, 'hostname -I')

  it('reaches allowed host names through the proxy, and logs others once', async () => {
    const id = await create({
      network_policy_id: await policy({ allowed_hostnames: ['allowed.example', 'node.example'] }),
    })
    expect(await run(id, open('http://allowed.example:8080/x'))).toMatch(/200[\s\S]*GET allowed.example:8080\/x/)
    expect(await run(id, send('CONNECT allowed.example:8080'))).toMatch(/^HTTP\/1.1 200 Connection established/)
    for (const _ of [1, 2]) expect(await run(id, open('http://other.example:8080/'))).toMatch(/^HTTP\/1.1 403/)
    expect(await run(id, send('CONNECT node.example:2375'))).toMatch(/^HTTP\/1.1 403/)
    const blocked = async () =>
      (await service.client.logs.list({ params: { id } })).logs.flatMap(({ message }) =>
        message?.startsWith('Blocked') ? message : [],
      )
    await expect
      .poll(blocked, { timeout: 20_000 })
      .toEqual([
        `Blocked: other.example:8080 is not allowed by the devbox's network policy`,
        `Blocked: node.example:2375 resolves to a host or private address (${swarm.manager.address})`,
      ])
  })
  it('reaches no node, no other devbox and not the service, also through the proxy', async () => {
    const [own, sameNode, otherNode] = await Promise.all([
      create({ node: 2 }),
      create({ node: 2 }),
      create({ node: 3 }),
    ])
    const others = await Promise.all([sameNode, otherNode].map(addressOf))
    for (const [index, other] of [sameNode, otherNode].entries()) {
      await run(other, serve)
      await expect.poll(() => run(other, read(others[index] ?? ''))).toBe('hello')
    }
    const [address] = (await run(own, 'hostname -I')).split(' ')
    const gateways = ['172.17.0.1', '172.18.0.1', address?.replace(/\d+$/, '1')]
    const targets = [
      ...[...swarm.nodes.map((node) => node.address), ...gateways].flatMap((host) => ports.map((port) => [host, port])),
      ...others.map((host) => [host, 8000]),
      [swarm.manager.address.replace(/\d+$/, '254'), machine.port],
    ]
    const tried = targets.map(
      ([host, port]) =>
        `(timeout 2 bash -c 'exec 3<>/dev/tcp/${host}/${port}' 2>/dev/null && echo reached ${host}:${port}) &`,
    )
    expect(await run(own, `${tried.join('\n')}\nwait; echo done`)).toBe('done')
    const tunnels = targets.map(([host, port]) => send(`CONNECT ${host}:${port}`))
    const answers = await run(own, tunnels.join('\n'))
    expect(answers.match(/^HTTP\/1.1 403/gm)).toHaveLength(targets.length)
    expect(await run(own, 'getent hosts allowed.example || echo unknown')).toBe('unknown')
  })

  it('accepts only the token of the devbox itself', async () => {
    const [own, other] = await Promise.all([
      create({ network_policy_id: await policy({ allowed_hostnames: ['other.example'] }) }),
      create({}),
    ])
    const proxyOf = (id: string) => run(id, 'echo "$HTTP_PROXY"')
    const [ownProxy, otherProxy] = await Promise.all([proxyOf(own), proxyOf(other)])
    const otherToken = otherProxy.slice(0, otherProxy.indexOf('@'))
    const at = ownProxy.slice(ownProxy.indexOf('@'))
    for (const credentials of ['http://', 'http://devdeck:', otherToken, `${ownProxy.split('@')[0]}x`])
      expect(await run(own, open('http://allowed.example:8080/', `${credentials}${at}`))).toMatch(/^HTTP\/1.1 407/)
    const none = await create({ network_policy_id: await policy({}) })
    expect(await run(none, 'ls /sys/class/net; env | grep -i proxy')).toBe('lo')
  })

  it('connects the devboxes of a policy over nodes, and no others', async () => {
    const network_policy_id = await policy({ allow_devbox_to_devbox: true })
    const [server, client, stranger] = await Promise.all([
      create({ network_policy_id, node: 1, name: 'server' }),
      create({ network_policy_id, node: 2, name: 'client' }),
      create({ node: 2, name: 'stranger' }),
    ])
    await run(server, serve)
    await expect.poll(() => run(client, read('server')), { timeout: 10_000 }).toBe('hello')
    expect(await run(stranger, read('server'))).toBe('')
    for (const address of (await addressOf(server)).split(' ')) expect(await run(stranger, read(address))).toBe('')
    expect(await run(client, open('http://allowed.example:8080/'))).not.toMatch(/200/)
  })

  it('has egress again after its proxy was killed', async () => {
    const id = await create({ node: 1 })
    const query = { filters: { label: [`devdeck.service=${service.serviceId}`, 'devdeck.proxy'] } }
    const proxies = await swarm.manager.api.json<{ Id: string }[]>('GET', '/containers/json', { query })
    for (const { Id } of proxies) await swarm.manager.api.json('POST', `/containers/${Id}/kill`)
    const answer = () => run(id, open('http://allowed.example:8080/again'))
    await expect.poll(answer, { timeout: 30_000 }).toMatch(/GET allowed.example:8080\/again/)
  })
})
