import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { defaultLimits } from '#lib/service/config.ts'
import { findProcesses, signal } from '#lib/service/engine/processes.ts'
import { describeUnderEachIsolation, inContainer } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

describeUnderEachIsolation('devbox sessions under isolation', (isolation) => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ isolation })
  })
  afterAll(() => service.close())
  const reach: TestService['reach'] = (...call) => service.reach(...call)
  const run: TestService['run'] = (...call) => service.run(...call)
  const create: TestService['devbox'] = (body) => service.devbox(body)
  const suspend = (id: string) => service.client.devboxes.suspend({ params: { id } })
  const resume = (id: string) => service.client.devboxes.resume({ params: { id } })
  const shutdown = (id: string) => service.client.devboxes.shutdown({ params: { id } })
  const logOf = async (id: string) => (await service.client.logs.list({ params: { id } })).logs

  it('report their isolation in the record and the log', async () => {
    const created = await service.client.devboxes.create({ body: {} })
    expect(created.isolation).toBeNull()
    const { isolation: reported } = await reach(created.id, 'running')
    expect(reported?.sandbox).toBe(isolation)
    const log = await logOf(created.id)
    expect(log[0]).toMatchObject({ level: 'info', source: 'setup_commands' })
    const warnings = log.filter(({ level }) => level === 'warn').map(({ message }) => message)
    expect(warnings).toEqual(reported?.not_enforced)
  })

  it('log the output of launch commands and the entrypoint, and keep background processes running', async () => {
    const daemon = '(while sleep 0.05; do echo tick && echo alive >> ~/alive; done) &'
    const id = await create({
      launch_parameters: { launch_commands: ['echo one; echo two >&2', 'echo three > /dev/stdout', daemon] },
      entrypoint: 'echo four; sleep 1000',
    })
    await expect.poll(async () => (await logOf(id)).some(({ message }) => message === 'four')).toBe(true)
    const log = await logOf(id)
    const lines = log.map(({ source, level, message, cmd, exit_code }) => [source, level, cmd ?? message ?? exit_code])
    for (const line of [
      ['setup_commands', 'info', 'echo one; echo two >&2'],
      ['setup_commands', 'info', 'one'],
      ['setup_commands', 'warn', 'two'],
      ['setup_commands', 'info', 'three'],
      ['entrypoint', 'info', 'four'],
    ])
      expect(lines).toContainEqual(line)
    expect((await logOf(id)).filter(({ exit_code }) => exit_code === 0)).toHaveLength(3)
    const ticks = async () => Number((await run(id, 'wc -l < alive')).stdout)
    const before = await ticks()
    await expect.poll(ticks).toBeGreaterThan(before + 2)
  })

  it('run launch commands and the entrypoint at every start', async () => {
    const id = await create({
      launch_parameters: { launch_commands: ['echo launch >> ~/starts'] },
      entrypoint: 'echo entry >> ~/starts; sleep 1000',
    })
    const starts = async () => (await run(id, 'cat starts')).stdout.split('\n').filter(Boolean)
    await expect.poll(starts).toEqual(['launch', 'entry'])
    await suspend(id)
    await reach(id, 'suspended')
    await resume(id)
    const resumed = await reach(id, 'running')
    await expect.poll(starts).toEqual(['launch', 'entry', 'launch', 'entry'])
    const statuses = resumed.state_transitions.map(({ status }) => status)
    expect(statuses.slice(3)).toEqual(['suspending', 'suspended', 'provisioning', 'initializing', 'running'])
  })

  it('run suspend commands before stopping processes', async () => {
    const id = await create({
      launch_parameters: {
        lifecycle: {
          lifecycle_hooks: { suspend_commands: ['pgrep -fxc "sleep 4242" > ~/seen', 'exit 3', 'echo last >> ~/seen'] },
        },
      },
    })
    await run(id, 'sleep 4242 &')
    expect((await suspend(id)).status).toBe('suspending')
    await reach(id, 'suspended')
    await resume(id)
    await reach(id, 'running')
    expect((await run(id, 'cat seen; pgrep -fxc "sleep 4242"')).stdout).toBe('1\nlast\n0\n')
  })

  it('stop suspend commands at their deadline or a shutdown', async () => {
    const hooks = (suspend_deadline_ms: number): DevboxCreate => ({
      launch_parameters: {
        lifecycle: { lifecycle_hooks: { suspend_commands: ['sleep 1000', 'touch ~/no'], suspend_deadline_ms } },
      },
    })
    const [short, long] = [await create(hooks(100)), await create(hooks(60_000))]
    await Promise.all([suspend(short), suspend(long)])
    await reach(short, 'suspended')
    expect((await logOf(short)).map(({ message }) => message)).toContain(
      'The suspend commands timed out and were stopped',
    )
    expect((await shutdown(long)).status).toBe('shutdown')
    expect((await service.client.devboxes.get({ params: { id: long } })).status).toBe('shutdown')
    await resume(short)
    await reach(short, 'running')
    expect((await run(short, 'ls')).stdout).toBe('')
  })

  it('start from a snapshot, with mounts that never follow its symlinks', async () => {
    const source = await create()
    await run(source, 'echo kept > ~/kept; echo old > ~/file; ln -s /tmp ~/link; echo rc > ~/.bashrc')
    const { id: snapshot_id } = await service.client.snapshots.create({ params: { id: source }, body: {} })
    const id = await create({ snapshot_id, file_mounts: { file: 'new', 'link/x': 'inside' } })
    expect((await service.client.devboxes.get({ params: { id } })).snapshot_id).toBe(snapshot_id)
    expect((await run(id, 'cat kept file link/x; test -L link; echo " $?"; cat .bashrc')).stdout).toBe(
      'kept\nnewinside 1\nrc\n',
    )
    expect((await run(source, 'cat file')).stdout).toBe('old\n')
    await expect(service.otherClient.devboxes.create({ body: { snapshot_id } })).rejects.toMatchObject({ status: 404 })
    // The engine replaces a file by a folder.
    if (inContainer(isolation)) return
    const blocked = await service.client.devboxes.create({ body: { snapshot_id, file_mounts: { 'file/x': '' } } })
    expect((await reach(blocked.id, 'failure')).failure_reason).toBe('health_check_failed')
  })

  it('fail if killed from outside, keep the disk, and can be resumed or shut down', async () => {
    if (isolation === 'none') return
    const id = await create()
    await run(id, 'echo kept > ~/kept')
    const killAll = async () => {
      for (const pid of findProcesses({ DEVDECK_DEVBOX_ID: id })) signal(pid, 'SIGKILL')
      expect(await reach(id, 'failure')).toMatchObject({
        failure_reason: 'health_check_failed',
        end_time_ms: expect.any(Number),
      })
    }
    await killAll()
    expect((await logOf(id)).map(({ message }) => message).join('\n')).toMatch(/killed from outside\n.*keeps its disk/)
    await service.restart()
    expect(await reach(id, 'failure')).toMatchObject({ failure_reason: 'health_check_failed' })
    await resume(id)
    expect(await reach(id, 'running')).toMatchObject({ failure_reason: null, end_time_ms: null })
    expect((await run(id, 'cat ~/kept')).stdout).toBe('kept\n')
    await killAll()
    expect(await shutdown(id)).toMatchObject({ status: 'shutdown', failure_reason: 'health_check_failed' })
    expect(existsSync(join(service.dataDir, 'devboxes', id, 'home'))).toBe(false)
    await expect(resume(id)).rejects.toMatchObject({ status: 400 })
  })

  it.skipIf(inContainer(isolation))('keep the disk if the restart after a service restart fails', async () => {
    const id = await create({ launch_parameters: { launch_commands: ['[ ! -e ~/broken ]'] } })
    await run(id, 'echo kept > ~/kept; touch ~/broken')
    await service.restart()
    expect((await reach(id, 'failure')).failure_reason).toBe('execution_failed')
    expect(existsSync(join(service.dataDir, 'devboxes', id, 'home', 'kept'))).toBe(true)
    rmSync(join(service.dataDir, 'devboxes', id, 'home', 'broken'))
    await resume(id)
    await reach(id, 'running')
    expect((await run(id, 'cat ~/kept')).stdout).toBe('kept\n')
  })

  it('fail with out_of_memory or out_of_disk if that stopped a launch command', async () => {
    const failing = async (command: string) => {
      const { id } = await service.client.devboxes.create({
        body: { launch_parameters: { resource_size_request: 'X_SMALL', launch_commands: [command] } },
      })
      const { failure_reason, state_transitions, isolation } = await reach(id, 'failure')
      expect(state_transitions.at(-1)).toMatchObject({ status: 'failure', failure_reason })
      return { failure_reason, isolation, log: await logOf(id) }
    }
    expect((await failing('truncate -s 5G ~/large')).failure_reason).toBe('out_of_disk')
    const { failure_reason, isolation: reported, log } = await failing('head -c 1500M /dev/zero | tail')
    // Without cgroups, each process is limited and reports its own error.
    const counts = !reported?.not_enforced.some((sentence) => sentence.startsWith('Memory'))
    expect(failure_reason).toBe(counts ? 'out_of_memory' : 'execution_failed')
    if (counts) expect(log).toContainEqual(expect.objectContaining({ level: 'error', source: 'kmsg' }))
  })

  it('report their usage', async () => {
    const id = await create({ launch_parameters: { resource_size_request: 'MEDIUM' } })
    const usage = () => service.client.devboxes.usage({ params: { id } })
    await expect.poll(async () => (await usage()).total_active_seconds).toBeGreaterThan(0)
    const now = await usage()
    expect(now).toMatchObject({ id, status: 'running', end_time_ms: null })
    expect(now.memory_gb_seconds).toBeGreaterThanOrEqual(4 * now.total_active_seconds)
    const { end_time_ms } = await shutdown(id)
    expect(await usage()).toMatchObject({ status: 'shutdown', end_time_ms })
    await expect(service.otherClient.devboxes.usage({ params: { id } })).rejects.toMatchObject({ status: 404 })
  })

  it('end in a valid state after concurrent requests', async () => {
    const calls = ['suspend', 'resume', 'shutdown', 'keepAlive', 'suspend', 'resume'] as const
    for (let round = 0; round < 3; round++) {
      const { id } = await service.client.devboxes.create({ body: {} })
      if (round % 3 !== 0) await reach(id, 'running')
      const chosen = calls.filter((call, i) => call !== 'shutdown' || (round + i) % 2 === 0)
      await Promise.allSettled([
        ...chosen.map((call) => service.client.devboxes[call]({ params: { id } })),
        service.client.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() } }),
      ])
      const { status, state_transitions } = await reach(id, 'running', 'suspended', 'shutdown')
      expect(state_transitions.at(-1)?.status).toBe(status)
      const ended = await shutdown(id)
      expect(ended.status).toBe('shutdown')
      const order = ended.state_transitions.map((each) => each.status)
      expect(order.filter((each) => each === 'shutdown')).toHaveLength(1)
      expect(findProcesses({ DEVDECK_DEVBOX_ID: id })).toEqual([])
    }
  })

  it('leave no disk behind if shut down while starting', async () => {
    const created = await Promise.all(
      Array.from({ length: 4 }, () => service.client.devboxes.create({ body: { file_mounts: { a: 'b' } } })),
    )
    await Promise.all(created.map(({ id }) => shutdown(id)))
    for (const { id } of created) {
      const left = readdirSync(join(service.dataDir, 'devboxes', id)).filter((name) => name !== 'log')
      expect(left).toEqual(['record.json'])
    }
  })

  it("don't count as idle while in use", async () => {
    const idle = { after_idle: { idle_time_seconds: 1, on_idle: 'shutdown' as const } }
    const id = await create({ launch_parameters: idle })
    const startedAtMs = Date.now()
    await run(id, 'sleep 1.5')
    const { shutdown_reason, end_time_ms } = await reach(id, 'shutdown')
    expect(shutdown_reason).toBe('idle')
    expect(end_time_ms ?? 0).toBeGreaterThanOrEqual(startedAtMs + 2400)
  })

  it('restart the keep-alive time on request', async () => {
    const id = await create({ launch_parameters: { keep_alive_time_seconds: 2 } })
    await run(id, 'true')
    const requestedMs = Date.now()
    await service.client.devboxes.keepAlive({ params: { id } })
    const { end_time_ms, shutdown_reason } = await reach(id, 'shutdown')
    expect(shutdown_reason).toBe('keep_alive_timeout')
    expect(end_time_ms ?? 0).toBeGreaterThanOrEqual(requestedMs + 1900)
  })

  it('accept network policies that allow all, host names or nothing, and reject others', async () => {
    const policy = async (rules: object) =>
      (await service.client.networkPolicies.create({ body: { name: `p${Math.random()}`, ...rules } })).id
    const under = (network_policy_id: string) =>
      service.client.devboxes.create({ body: { launch_parameters: { network_policy_id } } })
    const [all, none, names, some] = [
      await policy({ allow_all: true }),
      await policy({}),
      await policy({ allowed_hostnames: ['example.com'] }),
      await policy({ allowed_cidrs: [{ cidr: '198.51.100.0/24' }] }),
    ]
    expect((await under(all)).launch_parameters.network_policy_id).toBe(all)
    const field = 'launch_parameters.network_policy_id'
    await expect(under(some)).rejects.toMatchObject({ status: 501, field })
    for (const each of [none, names])
      if (isolation === 'none') await expect(under(each)).rejects.toMatchObject({ status: 501, field })
      else await reach((await under(each)).id, 'running')
  })

  it('return the first devbox for a repeated create request', async () => {
    const send = (path: string, id: string, name: string) => service.post(path, { name }, { 'x-request-id': id })
    const ids = async (...responses: Promise<Response>[]) =>
      (await Promise.all((await Promise.all(responses)).map((response) => response.json()))).map(({ id }) => id)
    const path = '/v1/devboxes'
    const [a, b, c] = await ids(
      send(path, 'r-1', 'x'),
      send(path, 'r-1', 'x'),
      send(`${path}/create_and_await_running`, 'r-1', 'x'),
    )
    expect([b, c]).toEqual([a, a])
    const [d, e] = await ids(send(path, 'r-2', 'x'), send(path, 'r-1', 'another body'))
    expect(new Set([a, d, e]).size).toBe(3)
    const [f] = await ids(
      service.post(path, { name: 'x' }, { 'x-request-id': 'r-1', authorization: `Bearer ${service.otherKey}` }),
    )
    expect(f).not.toBe(a)
    expect((await send(path, 'r-3', 'x\0')).status).toBe((await send(path, 'r-3', 'x\0')).status)
  })
})

describe('the devbox limit', () => {
  it('counts active devboxes per account', async () => {
    const service = await startService({ isolation: 'none', limits: { ...defaultLimits, devboxes: 3 } })
    try {
      const responses = await Promise.all(
        Array.from({ length: 8 }, () => service.post('/v1/devboxes', { file_mounts: { a: 'b' } })),
      )
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 429, 429, 429, 429, 429])
      for (const { status, headers } of responses)
        if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      const { devboxes } = await service.client.devboxes.list()
      expect(readdirSync(join(service.dataDir, 'devboxes'))).toHaveLength(3)
      await service.otherClient.devboxes.create({ body: {} })
      await service.client.devboxes.shutdown({ params: { id: devboxes[0]?.id ?? '' } })
      await service.client.devboxes.create({ body: {} })
    } finally {
      await service.close()
    }
  })
})
