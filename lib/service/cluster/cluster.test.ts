import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import type { ClusterNode } from '#lib/contract/cluster.ts'
import type { DevboxStatus } from '#lib/contract/devboxes.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import { runsLongSwarmTests } from '#lib/service/testing/has-swarm.ts'
import { startService, statusOf, type TestService } from '#lib/service/testing/service.ts'
import { ownSwarm } from '#lib/service/testing/swarm.ts'
import { openTerminal } from '#lib/service/testing/terminals.ts'

const soon = { timeout: 30_000, interval: 100 }
/** For starts, commits and pushes of several devboxes on a busy machine. */
const eventually = { timeout: 120_000, interval: 100 }

describe.runIf(runsLongSwarmTests)('a cluster', () => {
  let swarm: Awaited<ReturnType<typeof ownSwarm>>
  let service: TestService
  beforeAll(async () => {
    swarm = await ownSwarm()
    service = await startService({
      engine: 'swarm',
      swarm: { url: swarm.manager.url, registry: swarm.registry, placement: [], reserved: { cpu: 0.1, memory: 0.1 } },
      image: await swarm.image('base'),
    })
  })
  afterAll(async () => {
    await service?.close()
    await swarm?.close()
  })

  const on = ({ hostname }: { hostname: string }) => ({ 'devdeck.placement': `node.hostname==${hostname}` })
  /** A devbox that starts on a node, but may be resumed on any. */
  const devboxOn = async (node: { hostname: string }) => {
    const { id } = await service.client.devboxes.create({ body: { metadata: on(node) } })
    await reach(id, 'running')
    await service.client.devboxes.update({ params: { id }, body: { metadata: {} } })
    return id
  }
  const reach = async (id: string, ...statuses: DevboxStatus[]) => {
    await expect.poll(async () => (await get(id)).status, eventually).toSatisfy((status) => statuses.includes(status))
    return get(id)
  }
  const get = (id: string) => service.client.devboxes.get({ params: { id } })
  const resume = async (id: string) => {
    await service.client.devboxes.resume({ params: { id } })
    return reach(id, 'running', 'failure')
  }
  const cluster = () => service.client.cluster.get({})
  const nodeState = async ({ hostname }: { hostname: string }) =>
    (await cluster()).nodes.find((node) => node.hostname === hostname) as ClusterNode
  const operator = () => {
    const token = readFileSync(join(service.dataDir, 'operator-token'), 'utf8').trim()
    return createClient({ baseUrl: service.url, headers: { authorization: `Bearer ${token}` } }).cluster
  }
  const drain = ({ hostname }: { hostname: string }, deadline_seconds: number) =>
    operator().drainNode({ params: { id: hostname }, body: { deadline_seconds } })
  const activate = ({ hostname }: { hostname: string }) => operator().activateNode({ params: { id: hostname } })
  const pending = async (count: number) => {
    const seen: Eviction[] = []
    for await (const eviction of service.client.evictions.watch({})) if (seen.push(eviction) === count) break
    return seen
  }
  const containersOn = async ({ api }: (typeof swarm.nodes)[number]) => {
    const query = { all: true, filters: { label: ['devdeck.devbox'] } }
    const found = await api.json<{ State: string; Labels: Record<string, string> }[]>('GET', '/containers/json', {
      query,
    })
    return found.map(({ State, Labels }) => ({ id: Labels['devdeck.devbox'], state: State }))
  }
  const shutDown = (...ids: string[]) =>
    Promise.all(ids.map((id) => service.client.devboxes.shutdown({ params: { id } })))
  const logOf = async (id: string) =>
    (await service.client.logs.list({ params: { id } })).logs.map(({ message }) => message).join('\n')

  it('drains a node at a deadline, and resumes its devboxes elsewhere', async () => {
    const [, node] = swarm.nodes
    const [early, late, unaffected] = [await devboxOn(node), await devboxOn(node), await devboxOn(swarm.nodes[2])]
    await service.run(late, 'echo kept >~/file')
    const ownDeadlineMs = Date.now() + 1
    await service.client.evictions.schedule({
      body: { devbox_id: early, eviction_deadline_ms: ownDeadlineMs + 3_600_000 },
    })
    const first = await drain(node, 2 * 3600)
    expect(first.devboxes).toBe(2)
    await service.restart()
    for (const id of [early, late]) await reach(id, 'running')
    expect(await nodeState(node)).toMatchObject({
      availability: 'pause',
      drain_status: 'waiting',
      drain_deadline_ms: first.eviction_deadline_ms,
      devboxes: 2,
    })
    const node_ = node.hostname
    expect(await pending(2)).toEqual([
      { devbox_id: early, eviction_deadline_ms: ownDeadlineMs + 3_600_000, node: node_ },
      { devbox_id: late, eviction_deadline_ms: first.eviction_deadline_ms, node: node_ },
    ])
    // A canceled drain leaves the devbox its own eviction.
    expect(await activate(node)).toMatchObject({ availability: 'active', drain_status: null, drain_deadline_ms: null })
    expect(await pending(1)).toHaveLength(1)
    expect(await statusOf(service.client.evictions.cancel({ params: { devbox_id: late } }))).toBe(404)

    await drain(node, 1)
    const waiting = await service.client.devboxes.create({ body: { metadata: on(node) } })
    for (const id of [early, late]) await reach(id, 'suspended')
    await expect
      .poll(() => nodeState(node), soon)
      .toMatchObject({ availability: 'drain', drain_status: 'drained', devboxes: 0 })
    expect((await cluster()).waiting_devboxes).toBe(1)
    expect(await get(unaffected)).toMatchObject({ status: 'running' })
    expect((await resume(late)).node?.hostname).not.toBe(node.hostname)
    expect((await service.run(late, 'cat ~/file')).stdout).toBe('kept\n')
    await activate(node)
    expect(await reach(waiting.id, 'running')).toMatchObject({ node: { hostname: node.hostname } })
    await shutDown(early, late, unaffected, waiting.id)
  })

  it('fails the devboxes of a lost node, and never runs one twice when it returns', async () => {
    const [, , node] = swarm.nodes
    const [saved, unsaved] = [await devboxOn(node), await devboxOn(node)]
    for (const id of [saved, unsaved]) await service.run(id, 'echo old >~/file')
    await service.client.snapshots.create({ params: { id: saved }, body: {} })
    await service.run(saved, 'echo new >~/file')
    await service.client.evictions.schedule({
      body: { devbox_id: saved, eviction_deadline_ms: Date.now() + 3_600_000 },
    })
    const { execution_id } = await service.client.executions.executeAsync({
      params: { id: saved },
      body: { command: 'echo started; sleep 1000' },
    })
    const terminal = await openTerminal(service, saved)
    await terminal.shows(/\$ /)
    await node.kill()
    const killedMs = Date.now()
    const snapshot = await service.client.snapshots.createAsync({ params: { id: unsaved }, body: {} })
    for (const id of [saved, unsaved])
      expect(await reach(id, 'failure')).toMatchObject({
        failure_reason: 'node_lost',
        node: { hostname: node.hostname },
      })
    const reason = `node ${node.hostname} was lost`
    expect((await terminal.closed).reason).toContain(reason)
    const execution = { devbox_id: saved, execution_id }
    const ended = await service.client.executions.waitForStatus({
      params: execution,
      body: { statuses: ['completed'] },
    })
    expect(ended.exit_status).toBe(137)
    expect(ended.stderr).toMatch(new RegExp(`${reason}; the command was killed`, 'i'))
    await expect
      .poll(() => service.client.snapshots.status({ params: { id: snapshot.id } }), soon)
      .toMatchObject({
        status: 'error',
        error_message: `Node ${node.hostname} was lost while the snapshot was in progress`,
      })
    expect(await statusOf(service.client.evictions.cancel({ params: { devbox_id: saved } }))).toBe(404)
    expect(Date.now() - killedMs).toBeLessThan(30_000)
    expect(await nodeState(node)).toMatchObject({ state: 'down', devboxes: 0 })

    await expect(service.client.devboxes.resume({ params: { id: unsaved } })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(`is on node ${node.hostname}`),
    })
    expect((await resume(saved)).node?.hostname).not.toBe(node.hostname)
    expect((await service.run(saved, 'cat ~/file')).stdout).toBe('old\n')
    expect(await logOf(saved)).toContain('continues from snapshot')

    await node.revive()
    await expect.poll(() => containersOn(node), soon).toEqual([{ id: unsaved, state: 'exited' }])
    await expect.poll(() => nodeState(node), soon).toMatchObject({ state: 'ready', problem: null })
    expect(await resume(unsaved)).toMatchObject({ status: 'running' })
    expect((await service.run(unsaved, 'cat ~/file')).stdout).toBe('old\n')
    expect((await service.run(saved, 'cat ~/file')).stdout).toBe('old\n')
    await shutDown(saved, unsaved)
  })

  it('serves running devboxes while the manager is unavailable', async () => {
    const [, node] = swarm.nodes
    const [id, unreachable] = [await devboxOn(node), await devboxOn(swarm.manager)]
    await service.run(unreachable, 'echo kept >~/file')
    const suspended = await devboxOn(node)
    await service.client.devboxes.suspend({ params: { id: suspended } })
    await reach(suspended, 'suspended')
    await swarm.manager.killDaemon()
    await expect.poll(cluster, soon).toMatchObject({
      problem: expect.stringContaining("can't be reached"),
      problem_since_ms: expect.any(Number),
      nodes: [{}, {}, {}],
    })
    for (const [path, body] of [
      ['/v1/devboxes', {}],
      [`/v1/devboxes/${suspended}/resume`, {}],
    ] as const) {
      const response = await service.post(path, body)
      expect(response.status).toBe(503)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(await statusOf(drain(node, 60))).toBe(503)
    expect((await service.run(id, 'echo here')).stdout).toBe('here\n')
    await expect.poll(() => statusOf(service.run(unreachable, 'true')), soon).toBe(503)
    expect(await get(unreachable)).toMatchObject({ status: 'running' })
    await swarm.manager.reviveDaemon()
    await expect.poll(cluster, soon).toMatchObject({ problem: null, problem_since_ms: null })
    expect((await resume(suspended)).status).toBe('running')
    expect(await get(id)).toMatchObject({ status: 'running' })
    expect((await service.run(id, 'echo still')).stdout).toBe('still\n')
    // The engine ended it when it started again.
    expect(await reach(unreachable, 'failure')).toMatchObject({ failure_reason: 'node_lost' })
    await resume(unreachable)
    expect((await service.run(unreachable, 'cat ~/file')).stdout).toBe('kept\n')
    await shutDown(id, suspended, unreachable)
  })
})
