import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import type { Devbox, DevboxCreate } from '#lib/contract/devboxes.ts'
import type { Isolation } from '#lib/service/engine/box.ts'
import { describeUnderEachIsolation, inContainer } from '#lib/service/testing/isolation.ts'
import { runCommand } from '#lib/service/testing/process.ts'
import { sharedEngine, startService } from '#lib/service/testing/service.ts'
import { swarmFlags } from '#lib/service/testing/swarm.ts'

const spawnService = async (dataDir: string, isolation: Isolation, key: string) => {
  const { engine = 'none', swarm, image } = await sharedEngine(isolation)
  const flags = ['--port', '0', '--data-dir', dataDir, '--image', image]
  flags.push(...(swarm ? swarmFlags(swarm) : ['--engine', engine, '--isolation', isolation]))
  const { child, ready } = runCommand(flags, { DEVDECK_API_KEYS: `test:${key}` })
  return { child, client: createClient({ baseUrl: await ready, headers: { authorization: `Bearer ${key}` } }) }
}

describeUnderEachIsolation('a killed service, under isolation', (isolation) => {
  it('leaves no processes behind, except in containers, and restores every devbox to its state before the kill', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-killed-'))
    const { child, client } = await spawnService(dataDir, isolation, 'ak_killed_0123456789')
    const get = ({ id }: Devbox, of = client) => of.devboxes.get({ params: { id } })
    const create = async (body: DevboxCreate = {}) => {
      const devbox = await client.devboxes.create({ body })
      await expect.poll(async () => (await get(devbox)).status).toBe('running')
      return devbox
    }
    const run = ({ id }: Devbox, command: string, of = client) =>
      of.executions.executeSync({ params: { id }, body: { command } })
    const idle = (idle_time_seconds: number, on_idle: 'suspend' | 'shutdown'): DevboxCreate => ({
      launch_parameters: { after_idle: { idle_time_seconds, on_idle } },
    })
    const hooks = { lifecycle_hooks: { suspend_commands: ['sleep 1000'], suspend_deadline_ms: 60_000 } }

    const source = await create()
    const { execution_id } = await client.executions.executeAsync({
      params: { id: source.id },
      body: { command: 'echo up; sleep 4321 & setsid sleep 4321 & wait' },
    })
    await run(source, 'head -c 50000000 /dev/urandom > ~/big; sha256sum < ~/big > ~/sum')
    const { id: snapshot_id } = await client.snapshots.create({ params: { id: source.id }, body: {} })
    const suspending = await create({ launch_parameters: { lifecycle: hooks } })
    await client.devboxes.suspend({ params: { id: suspending.id } })
    const suspended = await create()
    await client.devboxes.suspend({ params: { id: suspended.id } })
    await client.devboxes.waitForStatus({ params: { id: suspended.id }, body: { statuses: ['suspended'] } })
    const resuming = await create()
    await run(resuming, 'echo kept > ~/kept')
    await client.devboxes.suspend({ params: { id: resuming.id } })
    await client.devboxes.waitForStatus({ params: { id: resuming.id }, body: { statuses: ['suspended'] } })
    const [over, idleOver, idleSuspended, idleLater] = [
      await create({ launch_parameters: { keep_alive_time_seconds: 4 } }),
      await create(idle(4, 'shutdown')),
      await create(idle(4, 'suspend')),
      await create(idle(3600, 'suspend')),
    ]
    const waiting = '[ -e ~/again ] || { touch ~/again; echo waiting; sleep 1000; }'
    const initializing = await client.devboxes.create({ body: { launch_parameters: { launch_commands: [waiting] } } })
    await client.devboxes.waitForStatus({ params: { id: initializing.id }, body: { statuses: ['initializing'] } })
    const logs = () => client.logs.list({ params: { id: initializing.id }, query: {} })
    await expect.poll(async () => (await logs()).logs.some(({ message }) => message === 'waiting')).toBe(true)
    const ending = await create()
    const [provisioning, restoring] = await Promise.all([
      client.devboxes.create({ body: { file_mounts: { mounted: 'mounted' } } }),
      client.devboxes.create({ body: { snapshot_id, file_mounts: { mounted: 'over it' } } }),
      client.devboxes.resume({ params: { id: resuming.id } }),
      client.devboxes.shutdown({ params: { id: ending.id } }),
    ])
    expect((await get(suspending)).status).toBe('suspending')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await expect.poll(() => Date.now()).toBeGreaterThan((over.create_time_ms ?? 0) + 6000)

    const service = await startService({ dataDir, isolation })
    const reach = ({ id }: Devbox, status: 'running' | 'suspended' | 'shutdown') =>
      service.client.devboxes.waitForStatus({ params: { id }, body: { statuses: [status] } })
    const interrupted = { devbox_id: source.id, execution_id }
    const execution = await service.client.executions.get({ params: interrupted })
    const isContinued = inContainer(isolation)
    if (isContinued) expect(execution.status).toBe('running')
    else {
      expect(execution).toMatchObject({ status: 'completed', exit_status: 137, stdout: 'up\n' })
      expect(execution.stderr).toContain('the service restarted')
    }
    // A devbox in a container is not ready until the service has taken it over.
    const prints = (devbox: Devbox, command: string) =>
      expect.poll(
        () =>
          run(devbox, command, service.client).then(
            ({ stdout }) => stdout,
            (error: Error) => error.message,
          ),
        { timeout: 20_000 },
      )
    for (const devbox of [source, resuming, initializing, provisioning, restoring, idleLater])
      await reach(devbox, 'running')
    for (const devbox of [suspending, suspended, idleSuspended]) await reach(devbox, 'suspended')
    expect((await reach(over, 'shutdown')).shutdown_reason).toBe('keep_alive_timeout')
    expect((await reach(idleOver, 'shutdown')).shutdown_reason).toBe('idle')
    await prints(source, 'pgrep -fxc "sleep 4321"; true').toBe(isContinued ? '2\n' : '0\n')
    await prints(resuming, 'cat kept').toBe('kept\n')
    await prints(provisioning, 'cat mounted').toBe('mounted')
    await prints(restoring, 'sha256sum < big | cmp - sum && cat mounted').toBe('over it')
    await reach(ending, 'shutdown')
    for (const devbox of [ending, over, idleOver])
      await expect
        .poll(() => readdirSync(join(dataDir, 'devboxes', devbox.id)).filter((name) => diskNames.includes(name)))
        .toEqual([])
    await service.close()
    rmSync(dataDir, { recursive: true })
  })
})

const diskNames = ['home', 'tmp', 'run', 'new', 'mounts']
