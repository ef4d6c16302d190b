import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '#lib/client/client.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { inputOffsetHeader, outputOffsetHeader, shellIdHeader } from '#lib/contract/terminals.ts'
import { putFiles } from './engine/container/install.ts'
import { sharedDocker } from './testing/docker.ts'
import { hasDocker } from './testing/has-docker.ts'
import { runsLongSwarmTests } from './testing/has-swarm.ts'
import { runCommand } from './testing/process.ts'
import { sharedSwarm } from './testing/swarm.ts'
import { attach } from './testing/terminals.ts'

type Started = ReturnType<typeof runCommand>

const until = (check: () => Promise<boolean>) => expect.poll(check, { timeout: 60_000, interval: 10 }).toBe(true)

const openContainers = async () => {
  const docker = await sharedDocker()
  return {
    flags: ['--isolation', 'container', '--engine', docker.url],
    image: await docker.image('base'),
    apis: [docker.api],
  }
}

const openSwarm = async () => {
  const swarm = await sharedSwarm()
  return {
    flags: ['--engine', 'swarm', '--engine-url', swarm.manager.url],
    image: await swarm.image('base'),
    apis: swarm.nodes.map(({ api }) => api),
  }
}

describe.each([
  { kind: 'a container engine', open: openContainers, isAvailable: hasDocker },
  { kind: 'a swarm', open: openSwarm, isAvailable: runsLongSwarmTests },
])('a service that was killed, with devboxes in $kind', ({ kind, open, isAvailable }) => {
  if (!isAvailable) return it.skip('is not available')
  let engine: Awaited<ReturnType<typeof open>>
  let dataDir: string
  let service: Started
  let url: string
  let client: Client

  const start = async () => {
    const flags = ['--port', '0', '--data-dir', dataDir, '--stop-with-parent', '--image', engine.image]
    service = runCommand([...flags, ...engine.flags])
    url = await service.ready
    const key = (await readFile(join(dataDir, 'api-key'), 'utf8')).trim()
    client = createClient({ baseUrl: url, headers: { authorization: `Bearer ${key}` } })
  }
  const stop = async (signal: 'SIGKILL' | 'SIGTERM') => {
    service.child.kill(signal)
    return service.ended
  }

  beforeAll(async () => {
    engine = await open()
    dataDir = await mkdtemp(join(tmpdir(), 'devdeck-restart-'))
    await start()
  }, 300_000)
  afterAll(async () => {
    for (const { id } of (await client.devboxes.list({ query: { limit: 100 } })).devboxes)
      await client.devboxes.shutdown({ params: { id } })
    await stop('SIGTERM')
    await rm(dataDir, { recursive: true })
  })

  const devbox = async (body: DevboxCreate = {}) => (await client.devboxes.createAndAwaitRunning({ body })).id

  let launched = 0
  /** Resolves once the command runs. */
  const launch = async (id: string, command: string, more: object = {}) => {
    const mark = `/tmp/started-${launched++}`
    const body = { command: `touch ${mark}; ${command}`, ...more }
    const { execution_id } = await client.executions.executeAsync({ params: { id }, body })
    const { has } = await container(id)
    await until(() => has(mark))
    return execution_id
  }

  const result = async (devbox_id: string, execution_id: string) => {
    const params = { devbox_id, execution_id }
    await expect
      .poll(async () => (await client.executions.get({ params })).status, { timeout: 60_000 })
      .toBe('completed')
    const { exit_status, stderr } = await client.executions.get({ params })
    const file = join(dataDir, 'devboxes', devbox_id, 'executions', execution_id, 'stdout')
    return { status: exit_status, stderr, stdout: existsSync(file) ? await readFile(file, 'utf8') : '' }
  }

  const untilRunning = (id: string) =>
    expect
      .poll(
        () =>
          client.executions.executeSync({ params: { id }, body: { command: 'true' } }).then(
            ({ exit_status }) => exit_status,
            (error: Error) => error.message,
          ),
        { timeout: 60_000 },
      )
      .toBe(0)

  /** The container of a devbox, without the service. */
  const container = async (id: string) => {
    for (const api of engine.apis) {
      const query = { filters: { label: [`devdeck.devbox=${id}`] } }
      const [found] = await api.json<{ Id: string }[]>('GET', '/containers/json', { query })
      if (found)
        return {
          id: found.Id,
          has: (path: string) => api.exists(`/containers/${found.Id}/archive`, { path }),
          remove: () => api.json('DELETE', `/containers/${found.Id}`, { query: { force: true } }),
          touch: (path: string) => putFiles(api, found.Id, [{ path, mode: 0o644, content: '' }]),
        }
    }
    throw new Error(`Devbox ${id} has no container`)
  }

  const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i + 1}\n`).join('')

  it('has complete commands, whenever it was killed', async () => {
    const id = await devbox()
    const { id: containerId, touch, has } = await container(id)
    const printing = await launch(id, 'for i in $(seq 3000); do echo $i; sleep 0.001; done; exit 3')
    const silent = await launch(id, 'until [ -e /tmp/go ]; do sleep 0.02; done; exit 4')
    const flooding = await launch(
      id,
      'until [ -e /tmp/flood ]; do sleep 0.02; done; seq 1000000; echo end >&2; touch /tmp/flooded',
    )
    const away = await launch(id, 'until [ -e /tmp/away ]; do sleep 0.02; done; seq 5000; touch /tmp/over; exit 6')
    const reading = await launch(id, 'read line; echo "read $line"; exit 5', { attach_stdin: true })
    const first = await launch(id, 'x=kept; until [ -e /tmp/go ]; do sleep 0.02; done', { shell_name: 'one' })
    const { execution_id: queued } = await client.executions.executeAsync({
      params: { id },
      body: { command: 'echo $x', shell_name: 'one' },
    })
    const stored = (execution: string, bytes: number) => async () => {
      const file = join(dataDir, 'devboxes', id, 'executions', execution, 'stdout')
      return existsSync(file) && (await readFile(file)).length >= bytes
    }
    // While it prints and floods.
    for (const bytes of [1, 3000]) {
      await until(stored(printing, bytes))
      await stop('SIGKILL')
      await start()
    }
    await touch('/tmp/flood')
    await until(stored(flooding, 100_000))
    await stop('SIGKILL')
    // While it is stopped.
    await touch('/tmp/away')
    await until(() => has('/tmp/over'))
    await start()
    expect(await result(id, away)).toEqual({ status: 6, stdout: numbers(5000), stderr: '' })
    expect(await result(id, flooding)).toEqual({ status: 0, stdout: numbers(1_000_000), stderr: 'end\n' })
    // While it stops; it doesn't wait for them.
    const drained = await runCommand(['drain', '--for', '10m', '--data-dir', dataDir]).ended
    expect(drained.stdout).toBe('No running work would be interrupted\nThe service has stopped\n')
    const { code, stdout, stderr } = await service.ended
    expect(code).toBe(0)
    expect(stdout + stderr).toContain('1 devbox kept running')
    await start()
    await untilRunning(id)
    expect(
      await client.executions.sendStdIn({ params: { devbox_id: id, execution_id: reading }, body: { text: 'it\n' } }),
    ).toMatchObject({ success: true })
    expect(await result(id, reading)).toEqual({ status: 5, stdout: 'read it\n', stderr: '' })
    await touch('/tmp/go')
    expect(await result(id, silent)).toEqual({ status: 4, stdout: '', stderr: '' })
    expect(await result(id, printing)).toEqual({ status: 3, stdout: numbers(3000), stderr: '' })
    expect((await result(id, first)).status).toBe(0)
    expect((await result(id, queued)).stdout).toBe('kept\n')
    expect((await container(id)).id).toBe(containerId)
    const { state_transitions } = await client.devboxes.get({ params: { id } })
    expect(state_transitions.map(({ status }) => status)).toEqual(['provisioning', 'initializing', 'running'])
  }, 180_000)

  const connect = async (session_name: string, after?: number) => {
    const session = () => client.terminals.connect({ params: { session_name }, query: { cols: 90, rows: 30 } })
    await until(() =>
      session().then(
        () => true,
        () => false,
      ),
    )
    const { created, connect_url } = await session()
    const terminal = attach({ url }, `${connect_url}${after === undefined ? '' : `&after=${after}`}`)
    const [{ headers }] = await once(terminal.socket, 'upgrade')
    let offset = Number(headers[outputOffsetHeader])
    terminal.socket.on('message', (data: Buffer) => (offset += data.length))
    return {
      ...terminal,
      created,
      shellId: headers[shellIdHeader],
      inputs: Number(headers[inputOffsetHeader]),
      offset: () => offset,
    }
  }

  it('has the terminals with their shells, programs and output', async () => {
    const id = await devbox()
    const { touch, has } = await container(id)
    const before = await connect(`${id}-main`)
    before.type('x=kept; while read -r line; do echo "[$line $x $$]"; done\n')
    before.type('one\n')
    const [, pid] = await before.shows(/\[one kept (\d+)\]\r\n/)
    const ending = await connect(`${id}-ending`)
    ending.type('until [ -e /tmp/bye ]; do sleep 0.02; done; touch /tmp/left; exit 9\n')
    await ending.shows(/exit 9\r\n/)
    await stop('SIGKILL')
    await touch('/tmp/bye')
    await until(() => has('/tmp/left'))
    await start()
    const ended = await connect(`${id}-ending`, ending.offset())
    expect(await ended.closed).toEqual({ code: 4000, reason: 'The shell ended with 9' })
    const after = await connect(`${id}-main`, before.offset())
    expect(after.shellId).toBe(before.shellId)
    expect(after.inputs).toBe(Buffer.byteLength('x=kept; while read -r line; do echo "[$line $x $$]"; done\none\n'))
    after.type('two\n')
    await after.shows(/two kept/)
    await stop('SIGTERM')
    expect(await after.closed).toEqual({ code: 1001, reason: 'The service is stopping' })
    await start()
    const last = await connect(`${id}-main`, 0)
    last.type('three\n')
    await last.shows(/three kept/)
    expect(last.text().match(/\[\w+ kept \d+\]/g)).toEqual([
      `[one kept ${pid}]`,
      `[two kept ${pid}]`,
      `[three kept ${pid}]`,
    ])
  }, 180_000)

  it('continues the entrypoint and does not repeat launch commands', async () => {
    const launch_parameters = { launch_commands: ['echo launched >>/tmp/launched'] }
    const entrypoint = 'echo begun; until [ -e /tmp/end ]; do sleep 0.02; done; echo over'
    const id = await devbox({ entrypoint, launch_parameters })
    const { touch } = await container(id)
    const messages = async () => {
      const { logs } = await client.logs.list({ params: { id } })
      return logs
        .filter(({ source }) => source === 'entrypoint')
        .map(({ cmd, message, exit_code }) => cmd ?? message ?? exit_code)
    }
    await until(async () => (await messages()).includes('begun'))
    await stop('SIGKILL')
    await start()
    // Not 503 until the devbox is taken over.
    const { stdout } = await client.executions.executeSync({ params: { id }, body: { command: 'cat /tmp/launched' } })
    expect(stdout).toBe('launched\n')
    await touch('/tmp/end')
    await expect
      .poll(async () => (await client.devboxes.get({ params: { id } })).shutdown_reason, { timeout: 60_000 })
      .toBe('entrypoint_exit')
    // What was logged right before the end may be repeated.
    expect([...new Set(await messages())]).toEqual([entrypoint, 'begun', 'over', 0])
  }, 180_000)

  it('leaves suspended devboxes suspended, and limits and policies in force', async () => {
    const { id: network_policy_id } = await client.networkPolicies.create({ body: { name: 'none', allow_all: false } })
    const create = (launch_parameters: DevboxCreate['launch_parameters']) => devbox({ launch_parameters })
    const [suspended, offline] = [await create({}), await create({ network_policy_id })]
    await client.devboxes.suspend({ params: { id: suspended } })
    const suspendedNow = async () => (await client.devboxes.get({ params: { id: suspended } })).status === 'suspended'
    await until(suspendedNow)
    const limited = await create({ keep_alive_time_seconds: 15 })
    const [{ keep_alive_until_ms }, { id: containerId }] = await Promise.all([
      client.devboxes.get({ params: { id: limited } }),
      container(limited),
    ])
    await stop('SIGKILL')
    await start()
    await untilRunning(limited)
    expect(await client.devboxes.get({ params: { id: limited } })).toMatchObject({
      status: 'running',
      keep_alive_until_ms,
    })
    expect((await container(limited)).id).toBe(containerId)
    expect(await suspendedNow()).toBe(true)
    await untilRunning(offline)
    const interfaces = { command: 'ls /sys/class/net' }
    const { stdout } = await client.executions.executeSync({ params: { id: offline }, body: interfaces })
    expect(stdout).toBe('lo\n')
    await expect
      .poll(async () => (await client.devboxes.get({ params: { id: limited } })).shutdown_reason, { timeout: 60_000 })
      .toBe('keep_alive_timeout')
  }, 180_000)

  it.runIf(kind === 'a container engine')(
    'fails a devbox whose container was removed, with the reason',
    async () => {
      const id = await devbox()
      const { remove } = await container(id)
      await stop('SIGKILL')
      await remove()
      await start()
      await until(async () => (await client.devboxes.get({ params: { id } })).status === 'failure')
      const { logs } = await client.logs.list({ params: { id } })
      expect(logs.map(({ message }) => message)).toContain('The container is missing from the container engine')
    },
    180_000,
  )
})
