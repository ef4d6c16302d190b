import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { readProc } from '#lib/service/kit/proc.ts'
import { makeLocalSpec } from '#lib/service/testing/boxes.ts'
import { describeUnderEachLocalIsolation, strongestIsolation } from '#lib/service/testing/isolation.ts'
import { startBubblewrap } from './bubblewrap/bubblewrap.ts'
import { cgroupParents, removeGroupsOf } from './cgroup.ts'
import { killProcesses } from './local/kill-processes.ts'
import type { LocalBox } from './local/local-box.ts'
import { startPlainProcess } from './process/plain-process.ts'
import { findProcesses, hasExited, signal, waitUntil } from './processes.ts'

const limits = { cpuCores: 0.5, memoryBytes: 2 ** 28, diskBytes: 2 ** 30 }
const limited = cgroupParents().flatMap(({ controllers }) => controllers)
const hasGroups = (['memory', 'cpu', 'pids'] as const).every((controller) => limited.includes(controller))
// The kernel counts processes per user, but not for root.
const isUser = process.getuid?.() !== 0

const allocate = 'head -c 4G /dev/zero | tail'
const forkBomb = ':(){ :|:& };:'

describeUnderEachLocalIsolation('the limits of a box, under isolation', (isolation) => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-limits-'))
  const serviceId = `limits-${process.pid}-${isolation}`
  const start = isolation === 'bubblewrap' ? startBubblewrap : startPlainProcess
  const boxes: LocalBox[] = []

  const startBox = async (devboxId: string, report?: (sentence: string) => void) => {
    const box = await start(makeLocalSpec(folder, { devboxId, serviceId, limits }), report)
    boxes.push(box)
    return box
  }

  const runScript = async (box: LocalBox, script: string) => {
    const process = await box.start({ argv: ['/bin/bash', '-c', `exec >/dev/null 2>&1; ${script}`], env: {} })
    return process.exited
  }

  const groupsOf = (box: LocalBox) =>
    (box.launch({ argv: ['/bin/true'], env: {} }).cgroupFiles ?? []).map((file) => dirname(file))

  afterEach(async () => {
    await Promise.all(boxes.splice(0).map((box) => box.stop()))
    expect(findProcesses({ DEVDECK_SERVICE_ID: serviceId })).toEqual([])
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.runIf(hasGroups)('kill and count a process over the memory limit without stopping its box or others', async () => {
    const [box, neighbor] = await Promise.all([startBox('greedy'), startBox('neighbor')])
    expect(await runScript(box, allocate)).toBe(137)
    expect(box.outOfMemoryKills()).toBeGreaterThan(0)
    expect(neighbor.outOfMemoryKills()).toBe(0)
    expect(await runScript(box, 'exit 3')).toBe(3)
    await box.stop()
    expect(box.outOfMemoryKills()).toBeGreaterThan(0)
  })

  it.runIf(!hasGroups)('fail an allocation over the memory limit', async () => {
    expect(await runScript(await startBox('greedy'), allocate)).not.toBe(0)
  })

  it.runIf(hasGroups || (isUser && isolation === 'bubblewrap'))(
    'contain a fork bomb until its box stops, while other boxes work',
    async () => {
      const [box, neighbor] = await Promise.all([startBox('bomb'), startBox('neighbor')])
      await runScript(box, forkBomb)
      const count = () => findProcesses({ DEVDECK_SERVICE_ID: serviceId, DEVDECK_DEVBOX_ID: 'bomb' }).length
      await expect.poll(count).toBeGreaterThan(100)
      for (let round = 0; round < 3; round++) expect(await runScript(neighbor, 'exit 3')).toBe(3)
      expect(count()).toBeLessThanOrEqual(1200)
      await box.stop()
      expect(count()).toBe(0)
    },
  )

  // Takes 11 s, and only concerns cgroups.
  it.runIf(hasGroups && isolation === strongestIsolation)(
    'throttle a fork loop, report it, and restore the CPU once it stops',
    async () => {
      const reported: string[] = []
      const box = await startBox('forks', (sentence) => reported.push(sentence))
      const quota = () =>
        groupsOf(box)
          .flatMap((group) => [join(group, 'cpu.cfs_quota_us'), join(group, 'cpu.max')])
          .filter(existsSync)
          .map((file) => Number.parseInt(readFileSync(file, 'utf8'), 10))
      expect(quota()).toEqual([50_000])
      const ended = runScript(box, `exec perl -e 'while (1) { my $pid = fork; sleep 1000 if defined $pid && !$pid }'`)
      await expect.poll(() => reported).toHaveLength(1)
      expect(reported[0]).toContain('Process limit of 1024 exceeded')
      expect(quota()).toEqual([5_000])
      await waitUntil(() => {
        const all = findProcesses({ DEVDECK_SERVICE_ID: serviceId, DEVDECK_DEVBOX_ID: 'forks' })
        const left = all.filter((pid) => (readProc(pid, 'cmdline') ?? '').includes('while (1)'))
        for (const pid of left) signal(pid, 'SIGKILL')
        return left.length === 0
      })
      expect(await ended).toBe(137)
      await expect.poll(() => reported).toHaveLength(2)
      expect(quota()).toEqual([50_000])
    },
  )

  it.runIf(hasGroups)('stop a process that left its environment, session and parent', async () => {
    const box = await startBox('left')
    const [group] = groupsOf(box) as [string]
    await runScript(box, 'setsid -f env -i /bin/sleep 1000')
    const sleepers = () =>
      readFileSync(join(group, 'cgroup.procs'), 'utf8')
        .split('\n')
        .map(Number)
        .filter((pid) => pid > 0 && (readProc(pid, 'cmdline') ?? '').startsWith('/bin/sleep'))
    await expect.poll(sleepers).toHaveLength(1)
    const sleeping = sleepers()
    await box.stop()
    expect(sleeping.every(hasExited)).toBe(true)
    expect(groupsOf(box).some(existsSync)).toBe(false)
  })

  it.runIf(hasGroups)('are removed after a service crash', async () => {
    const box = await startBox('crashed')
    const groups = groupsOf(box)
    const procs = () =>
      readFileSync(join(groups[0] ?? '', 'cgroup.procs'), 'utf8')
        .split('\n')
        .filter(Boolean)
    const before = procs().length
    const ended = runScript(box, 'sleep 1000')
    await expect.poll(() => procs().length).toBeGreaterThan(before)
    await removeGroupsOf('another-service')
    expect(groups.every(existsSync)).toBe(true)
    await killProcesses({ DEVDECK_SERVICE_ID: serviceId })
    expect(groups.some(existsSync)).toBe(false)
    expect(await ended).toBe(137)
  })

  it("are listed if they can't be enforced", async () => {
    const { notEnforced } = await startBox('reported')
    expect(notEnforced.join()).toContain('Disk: 1 GB per file')
    expect(notEnforced.some((each) => each.startsWith('Memory: 0.25 GB'))).toBe(!limited.includes('memory'))
    expect(notEnforced.includes('Files, processes and network of the host are accessible')).toBe(isolation === 'none')
  })
})
