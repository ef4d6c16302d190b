import { type ChildProcess, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { findProcesses, hasExited } from './engine/processes.ts'
import { runningService, serviceIdOf } from './store/data-dir.ts'
import { describeUnderEachLocalIsolation } from './testing/isolation.ts'
import { runCommand } from './testing/process.ts'

// Starting a copy of a data folder once killed the original service, its login session and its devboxes.
describeUnderEachLocalIsolation('a service and its data folder', (isolation) => {
  let root: string
  const started: ChildProcess[] = []
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'devdeck-copied-'))
  })
  afterEach(async () => {
    for (const child of started.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(root, { recursive: true, force: true, maxRetries: 10 })
  })

  const serve = async (dataDir: string, through?: readonly string[]) => {
    const flags = ['--port', '0', '--isolation', isolation, '--drain-seconds', '0', '--stop-with-parent']
    const { child, ready } = runCommand([...flags, '--data-dir', dataDir], {}, through)
    started.push(child)
    const baseUrl = await ready
    const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
    return { child, client: createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } }) }
  }
  type Client = Awaited<ReturnType<typeof serve>>['client']

  const devboxWithCommand = async (client: Client, dataDir: string) => {
    const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
    const { execution_id } = await client.executions.executeAsync({
      params: { id },
      body: { command: 'echo kept > ~/file; echo started; sleep 1000' },
    })
    for await (const _ of client.executions.streamStdout({ params: { devbox_id: id, execution_id } })) break
    return {
      id,
      execution_id,
      pids: findProcesses({ DEVDECK_SERVICE_ID: serviceIdOf(dataDir), DEVDECK_DEVBOX_ID: id }),
    }
  }

  it('share no processes with a running copy of the folder', async () => {
    const [dataDir, copy] = [join(root, 'data'), join(root, 'copy')]
    const original = await serve(dataDir)
    const { id, execution_id, pids } = await devboxWithCommand(original.client, dataDir)
    await original.client.axons.list()
    execFileSync('cp', ['-a', dataDir, copy])

    const second = await serve(copy)
    await second.client.devboxes.waitForStatus({ params: { id }, body: { statuses: ['running'] } })
    await second.client.devboxes.shutdown({ params: { id } })
    second.child.kill('SIGTERM')
    await once(second.child, 'exit')

    expect(original.child.exitCode ?? original.child.signalCode).toBe(null)
    expect(pids.filter(hasExited)).toEqual([])
    const params = { devbox_id: id, execution_id }
    expect(await original.client.executions.get({ params })).toMatchObject({ status: 'running' })
    expect(await original.client.devboxes.get({ params: { id } })).toMatchObject({ status: 'running' })
    expect(existsSync(join(dataDir, 'devboxes', id, 'home', 'file'))).toBe(true)
    expect(existsSync(join(copy, 'devboxes', id, 'home'))).toBe(false)
  })

  it('after a kill: the next start kills devbox processes and nothing else in its session', async () => {
    const [dataDir, note] = [join(root, 'data'), join(root, 'bystander')]
    const shell = `sleep 1000 & echo $! >${note}; "$@"; wait`
    const first = await serve(dataDir, ['setsid', '--wait', 'bash', '-c', shell, 'bash'])
    const bystander = Number(readFileSync(note, 'utf8'))
    try {
      const { pids } = await devboxWithCommand(first.client, dataDir)
      await first.client.axons.list()
      const ofDevboxes = new Set(pids)
      const [lister = 0] = findProcesses({ DEVDECK_SERVICE_ID: serviceIdOf(dataDir) }).filter(
        (pid) => !ofDevboxes.has(pid),
      )
      // The next start sees it in the service's session.
      process.kill(lister, 'SIGSTOP')
      process.kill(runningService(dataDir)?.pid ?? 0, 'SIGKILL')
      await serve(dataDir)
      expect([...pids, lister].filter((pid) => !hasExited(pid))).toEqual([])
      expect(hasExited(bystander)).toBe(false)
    } finally {
      process.kill(bystander, 'SIGKILL')
    }
  })
})
