import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { readProc } from '#lib/service/kit/proc.ts'
import { makeSandboxSpec } from '#lib/service/testing/boxes.ts'
import { describeUnderEachIsolation } from '#lib/service/testing/isolation.ts'
import { bubblewrap } from './bubblewrap/bubblewrap.ts'
import { cgroupParents, removeGroupsOf } from './cgroup.ts'
import { markers, type Sandbox, spawnIn } from './engine.ts'
import { killProcesses, plainProcess } from './process/plain-process.ts'
import { findProcesses, hasExited, signal, waitForExit, waitUntil } from './processes.ts'

const limits = { cpuCores: 0.5, memoryBytes: 2 ** 28, diskBytes: 2 ** 30 }
const limited = cgroupParents().flatMap(({ controllers }) => controllers)
const hasGroups = (['memory', 'cpu', 'pids'] as const).every((controller) => limited.includes(controller))
// The kernel counts processes per user, but not for root.
const isUser = process.getuid?.() !== 0

const allocate = 'head -c 4G /dev/zero | tail'
const forkBomb = ':(){ :|:& };:'

describeUnderEachIsolation('the limits of a sandbox, under isolation', (isolation) => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-limits-'))
  const serviceId = `limits-${process.pid}-${isolation}`
  const engine = isolation === 'bubblewrap' ? bubblewrap : plainProcess
  const sandboxes: Sandbox[] = []

  const startSandbox = async (devboxId: string, report?: (sentence: string) => void) => {
    const sandbox = await engine.start(makeSandboxSpec(folder, { devboxId, serviceId, limits }), report)
    sandboxes.push(sandbox)
    return sandbox
  }

  const spawnScript = (sandbox: Sandbox, script: string): ChildProcess =>
    spawnIn(sandbox.launch({ argv: ['/bin/bash', '-c', script], env: {} }), {
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: true,
    })

  const groupsOf = (sandbox: Sandbox) =>
    (sandbox.launch({ argv: ['/bin/true'], env: {} }).cgroupFiles ?? []).map((file) => dirname(file))

  afterEach(async () => {
    await Promise.all(sandboxes.splice(0).map((sandbox) => sandbox.stop()))
    expect(findProcesses({ DEVDECK_SERVICE_ID: serviceId })).toEqual([])
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.runIf(hasGroups)(
    'kill and count a process over the memory limit without stopping its sandbox or others',
    async () => {
      const [sandbox, neighbor] = await Promise.all([startSandbox('greedy'), startSandbox('neighbor')])
      expect(await waitForExit(spawnScript(sandbox, allocate))).toBe(137)
      expect(sandbox.outOfMemoryKills()).toBeGreaterThan(0)
      expect(neighbor.outOfMemoryKills()).toBe(0)
      expect(await waitForExit(spawnScript(sandbox, 'exit 3'))).toBe(3)
      await sandbox.stop()
      expect(sandbox.outOfMemoryKills()).toBeGreaterThan(0)
    },
  )

  it.runIf(!hasGroups)('fail an allocation over the memory limit', async () => {
    expect(await waitForExit(spawnScript(await startSandbox('greedy'), allocate))).not.toBe(0)
  })

  it.runIf(hasGroups || (isUser && isolation === 'bubblewrap'))(
    'contain a fork bomb until its sandbox stops, while other sandboxes work',
    async () => {
      const [sandbox, neighbor] = await Promise.all([startSandbox('bomb'), startSandbox('neighbor')])
      const bomb = spawnScript(sandbox, forkBomb)
      await once(bomb, 'exit')
      const count = () => findProcesses({ DEVDECK_SERVICE_ID: serviceId, DEVDECK_DEVBOX_ID: 'bomb' }).length
      await expect.poll(count).toBeGreaterThan(100)
      for (let round = 0; round < 3; round++) expect(await waitForExit(spawnScript(neighbor, 'exit 3'))).toBe(3)
      expect(count()).toBeLessThanOrEqual(1200)
      await sandbox.stop()
      expect(count()).toBe(0)
    },
  )

  it.runIf(hasGroups)('throttle a fork loop, report it, and restore the CPU once it stops', async () => {
    const reported: string[] = []
    const sandbox = await startSandbox('forks', (sentence) => reported.push(sentence))
    const quota = () =>
      groupsOf(sandbox)
        .flatMap((group) => [join(group, 'cpu.cfs_quota_us'), join(group, 'cpu.max')])
        .filter(existsSync)
        .map((file) => Number.parseInt(readFileSync(file, 'utf8'), 10))
    expect(quota()).toEqual([50_000])
    spawnScript(sandbox, `exec perl -e 'while (1) { my $pid = fork; sleep 1000 if defined $pid && !$pid }'`)
    await expect.poll(() => reported).toHaveLength(1)
    expect(reported[0]).toContain('Process limit of 1024 exceeded')
    expect(quota()).toEqual([5_000])
    await waitUntil(() => {
      const all = findProcesses({ DEVDECK_SERVICE_ID: serviceId, DEVDECK_DEVBOX_ID: 'forks' })
      const left = all.filter((pid) => (readProc(pid, 'cmdline') ?? '').includes('while (1)'))
      for (const pid of left) signal(pid, 'SIGKILL')
      return left.length === 0
    })
    await expect.poll(() => reported).toHaveLength(2)
    expect(quota()).toEqual([50_000])
  })

  it.runIf(hasGroups)('stop a process that left its environment, session and parent', async () => {
    const sandbox = await startSandbox('left')
    const [group] = groupsOf(sandbox) as [string]
    await waitForExit(spawnScript(sandbox, 'setsid -f env -i /bin/sleep 1000'))
    const sleepers = () =>
      readFileSync(join(group, 'cgroup.procs'), 'utf8')
        .split('\n')
        .map(Number)
        .filter((pid) => pid > 0 && (readProc(pid, 'cmdline') ?? '').startsWith('/bin/sleep'))
    await expect.poll(sleepers).toHaveLength(1)
    const sleeping = sleepers()
    await sandbox.stop()
    expect(sleeping.every(hasExited)).toBe(true)
    expect(groupsOf(sandbox).some(existsSync)).toBe(false)
  })

  it.runIf(hasGroups)('are removed after a service crash', async () => {
    const sandbox = await startSandbox('crashed')
    const groups = groupsOf(sandbox)
    const child = spawnScript(sandbox, 'sleep 1000')
    await expect.poll(() => readFileSync(join(groups[0] ?? '', 'cgroup.procs'), 'utf8')).toContain(String(child.pid))
    await removeGroupsOf('another-service')
    expect(groups.every(existsSync)).toBe(true)
    await killProcesses({ DEVDECK_SERVICE_ID: markers({ serviceId, devboxId: '' }).DEVDECK_SERVICE_ID })
    expect(groups.some(existsSync)).toBe(false)
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })

  it("are listed if they can't be enforced", async () => {
    const { notEnforced } = await startSandbox('reported')
    expect(notEnforced.join()).toContain('Disk: 1 GB per file')
    expect(notEnforced.some((each) => each.startsWith('Memory: 0.25 GB'))).toBe(!limited.includes('memory'))
    expect(notEnforced.includes('Files, processes and network of the host are accessible')).toBe(isolation === 'none')
  })
})
