import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { startService } from '#lib/service/testing.ts'
import { describeUnderEachIsolation } from '#lib/service/testing-isolation.ts'
import { findProcesses } from './processes.ts'

/** A service as a process of its own, which can be killed. */
const spawnService = async (dataDir: string, isolation: string, key: string) => {
  const main = join(import.meta.dirname, '..', 'main.ts')
  const child = spawn(process.execPath, [main, '--port', '0', '--data-dir', dataDir, '--isolation', isolation], {
    env: { ...process.env, DEVDECK_API_KEYS: `test:${key}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface(child.stdout)) {
    const url = /http:\/\/[\w.:]+/.exec(line)?.[0]
    if (url) return { child, client: createClient({ baseUrl: url, headers: { authorization: `Bearer ${key}` } }) }
  }
  throw new Error('The service did not start')
}

describeUnderEachIsolation('a service killed at work, under isolation', (isolation) => {
  it('leaves no process behind once it is up again, and goes on with its devboxes', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-killed-'))
    const { child, client } = await spawnService(dataDir, isolation, 'ak_killed')
    const { id } = await client.devboxes.createAndAwaitRunning({ body: { metadata: { env: 'prod' } } })
    const { execution_id } = await client.executions.executeAsync({
      params: { id },
      body: { command: 'echo up; sleep 1000 & setsid sleep 1000 & wait' },
    })
    for await (const { output } of client.executions.streamStdout({ params: { devbox_id: id, execution_id } }))
      if (output) break
    child.kill('SIGKILL')
    await once(child, 'exit')

    const service = await startService({ dataDir, isolation })
    const running = findProcesses({ DEVDECK_SERVICE_ID: service.serviceId, DEVDECK_DEVBOX_ID: id })
    await service.client.devboxes.waitForStatus({ params: { id }, body: { statuses: ['running'] } })
    const execution = await service.client.executions.get({ params: { devbox_id: id, execution_id } })
    expect(execution).toMatchObject({ status: 'completed', exit_status: 137, stdout: 'up\n' })
    expect(execution.stderr).toContain('the service was restarted')
    // What may run by now is the new box itself: bwrap and its first process.
    expect(running.length).toBeLessThanOrEqual(2)
    const { stdout } = await service.client.executions.executeSync({
      params: { id },
      body: { command: 'pgrep -fxc "sleep 1000"; true' },
    })
    if (isolation === 'bubblewrap') expect(stdout).toBe('0\n')
    await service.close()
    rmSync(dataDir, { recursive: true })
  })
})
