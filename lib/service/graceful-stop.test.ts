import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { findProcesses } from '#lib/service/engine/processes.ts'
import { serviceIdOf } from '#lib/service/store/data-dir.ts'
import { runCommand } from '#lib/service/testing/process.ts'
import { sandboxProblem } from '#lib/service/testing/trials.ts'

it.skipIf(sandboxProblem !== undefined)(
  'a graceful stop leaves no processes or cgroups of running or starting devboxes',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'devdeck-stop-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const service = runCommand(['--port', '0', '--data-dir', join(folder, 'data')])
    onTestFinished(() => void service.child.kill('SIGKILL'))
    const read = (name: string) => readFileSync(join(folder, 'data', name), 'utf8').trim()
    const baseUrl = await service.ready
    const client = createClient({ baseUrl, headers: { authorization: `Bearer ${read('api-key')}` } })
    const serviceId = serviceIdOf(join(folder, 'data'))
    // Host name policies use the service's proxy.
    const { id: network_policy_id } = await client.networkPolicies.create({
      body: { name: 'some', allowed_hostnames: ['allowed.example'] },
    })
    const create = () => client.devboxes.create({ body: { launch_parameters: { network_policy_id } } })
    const running = await Promise.all([create(), create()])
    for (const { id } of running)
      await expect
        .poll(async () => (await client.devboxes.get({ params: { id } })).status, { timeout: 30_000 })
        .toBe('running')
    expect(findProcesses({ DEVDECK_SERVICE_ID: serviceId }).length).toBeGreaterThan(2)
    await Promise.all([create(), create(), create()])
    service.child.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
    expect(findProcesses({ DEVDECK_SERVICE_ID: serviceId })).toEqual([])
    const groups = execFileSync('/bin/sh', [
      '-c',
      `find /sys/fs/cgroup -name "devdeck-$1-*" 2>/dev/null; true`,
      'sh',
      serviceId,
    ])
    expect(groups.toString()).toBe('')
  },
  60_000,
)
