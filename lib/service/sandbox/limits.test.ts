import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { readProc } from '#lib/service/kit/proc.ts'
import { makeSite } from '#lib/service/testing/boxes.ts'
import { describeUnderEachIsolation } from '#lib/service/testing/isolation.ts'
import { bubblewrap } from './bubblewrap.ts'
import { places, removeGroupsOf } from './cgroup.ts'
import { endProcesses, plainProcess } from './plain-process.ts'
import { exitStatusOf, findProcesses, isGone, signal, waitUntil } from './processes.ts'
import { type Box, markers, spawnIn } from './sandbox.ts'

const limits = { cpuCores: 0.5, memoryBytes: 2 ** 28, diskBytes: 2 ** 30 }
const limited = places().flatMap(({ controllers }) => controllers)
const hasGroups = (['memory', 'cpu', 'pids'] as const).every((controller) => limited.includes(controller))
// As another user than root, bubblewrap's processes are counted by the kernel, and any allocation fails.
const isUser = process.getuid?.() !== 0

// It keeps what it reads until a line ends.
const allocate = 'head -c 4G /dev/zero | tail'
const forkBomb = ':(){ :|:& };:'

describeUnderEachIsolation('the limits of a box, under isolation', (isolation) => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-limits-'))
  const serviceId = `limits-${process.pid}-${isolation}`
  const sandbox = isolation === 'bubblewrap' ? bubblewrap : plainProcess
  const boxes: Box[] = []

  const startBox = async (devboxId: string, tell?: (sentence: string) => void) => {
    const box = await sandbox.start(makeSite(folder, { devboxId, serviceId, limits }), tell)
    boxes.push(box)
    return box
  }

  const spawnScript = (box: Box, script: string): ChildProcess =>
    spawnIn(box.launch({ argv: ['/bin/bash', '-c', script], env: {} }), {
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: true,
    })

  const groupsOf = (box: Box) => (box.launch({ argv: ['/bin/true'], env: {} }).joins ?? []).map((file) => dirname(file))

  afterEach(async () => {
    await Promise.all(boxes.splice(0).map((box) => box.stop()))
    expect(findProcesses({ DEVDECK_SERVICE_ID: serviceId })).toEqual([])
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.runIf(hasGroups)('hold for a command and all it starts, and never for the service', async () => {
    const box = await startBox('joined')
    const child = spawnScript(box, 'setsid sleep 1000 & sleep 1000')
    for (const group of groupsOf(box)) {
      await expect.poll(() => readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').length).toBeGreaterThan(3)
      expect(readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n')).not.toContain(String(process.pid))
    }
    expect(readFileSync('/proc/self/cgroup', 'utf8')).not.toContain('devdeck-')
    child.kill()
  })

  it.runIf(hasGroups)(
    'kill what takes more memory than there is, count it, and leave the box and its neighbour',
    async () => {
      const [box, neighbour] = await Promise.all([startBox('greedy'), startBox('neighbour')])
      expect(await exitStatusOf(spawnScript(box, allocate))).toBe(137)
      expect(box.outOfMemoryKills()).toBeGreaterThan(0)
      expect(neighbour.outOfMemoryKills()).toBe(0)
      expect(await exitStatusOf(spawnScript(box, 'exit 3'))).toBe(3)
      await box.stop()
      expect(box.outOfMemoryKills()).toBeGreaterThan(0)
    },
  )

  it.runIf(!hasGroups)('end what takes more memory than there is by itself', async () => {
    expect(await exitStatusOf(spawnScript(await startBox('greedy'), allocate))).not.toBe(0)
  })

  it.runIf(hasGroups || (isUser && isolation === 'bubblewrap'))(
    'hold a fork bomb, so that others go on beside it, and it ends with its box',
    async () => {
      const [box, neighbour] = await Promise.all([startBox('bomb'), startBox('neighbour')])
      const bomb = spawnScript(box, forkBomb)
      await once(bomb, 'exit')
      const count = () => findProcesses({ DEVDECK_SERVICE_ID: serviceId, DEVDECK_DEVBOX_ID: 'bomb' }).length
      await expect.poll(count).toBeGreaterThan(100)
      for (let round = 0; round < 3; round++) expect(await exitStatusOf(spawnScript(neighbour, 'exit 3'))).toBe(3)
      expect(count()).toBeLessThanOrEqual(1200)
      await box.stop()
      expect(count()).toBe(0)
    },
  )

  it.runIf(hasGroups)(
    'slow down what forks in a loop beyond them, say so, and let go of it once it has stopped',
    async () => {
      const told: string[] = []
      const box = await startBox('forks', (sentence) => told.push(sentence))
      const quota = () =>
        groupsOf(box)
          .flatMap((group) => [join(group, 'cpu.cfs_quota_us'), join(group, 'cpu.max')])
          .filter(existsSync)
          .map((file) => Number.parseInt(readFileSync(file, 'utf8'), 10))
      expect(quota()).toEqual([50_000])
      spawnScript(box, `exec perl -e 'while (1) { my $pid = fork; sleep 1000 if defined $pid && !$pid }'`)
      await expect.poll(() => told).toHaveLength(1)
      expect(told[0]).toContain('more than the 1024 processes')
      expect(quota()).toEqual([5_000])
      await waitUntil(() => {
        const all = findProcesses({ DEVDECK_SERVICE_ID: serviceId, DEVDECK_DEVBOX_ID: 'forks' })
        const left = all.filter((pid) => (readProc(pid, 'cmdline') ?? '').includes('while (1)'))
        for (const pid of left) signal(pid, 'SIGKILL')
        return left.length === 0
      })
      await expect.poll(() => told).toHaveLength(2)
      expect(quota()).toEqual([50_000])
    },
  )

  it.runIf(hasGroups)('find a process that left its environment, session and parent', async () => {
    const box = await startBox('left')
    const [group] = groupsOf(box) as [string]
    await exitStatusOf(spawnScript(box, 'setsid -f env -i /bin/sleep 1000'))
    const sleepers = () =>
      readFileSync(join(group, 'cgroup.procs'), 'utf8')
        .split('\n')
        .map(Number)
        .filter((pid) => pid > 0 && (readProc(pid, 'cmdline') ?? '').startsWith('/bin/sleep'))
    await expect.poll(sleepers).toHaveLength(1)
    const sleeping = sleepers()
    await box.stop()
    expect(sleeping.every(isGone)).toBe(true)
    expect(groupsOf(box).some(existsSync)).toBe(false)
  })

  it.runIf(hasGroups)('end with the groups that something in the box made below', async () => {
    const box = await startBox('nested')
    const inner = groupsOf(box).map((group) => join(group, 'inner', 'most'))
    for (const group of inner) mkdirSync(group, { recursive: true })
    const child = spawnScript(box, 'sleep 1000')
    for (const group of inner) writeFileSync(join(group, 'cgroup.procs'), String(child.pid))
    await box.stop()
    expect(groupsOf(box).some(existsSync)).toBe(false)
  })

  it.runIf(hasGroups)('are found again and removed after a crash of the service', async () => {
    const box = await startBox('crashed')
    const groups = groupsOf(box)
    const child = spawnScript(box, 'sleep 1000')
    await expect.poll(() => readFileSync(join(groups[0] ?? '', 'cgroup.procs'), 'utf8')).toContain(String(child.pid))
    await removeGroupsOf('another-service')
    expect(groups.every(existsSync)).toBe(true)
    await endProcesses({ DEVDECK_SERVICE_ID: markers({ serviceId, devboxId: '' }).DEVDECK_SERVICE_ID })
    expect(groups.some(existsSync)).toBe(false)
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })

  it('are told where they do not hold', async () => {
    const { notEnforced } = await startBox('told')
    expect(notEnforced.join()).toContain('Disk: 1 GB at once for each file')
    expect(notEnforced.some((each) => each.startsWith('Memory: 0.25 GB'))).toBe(!limited.includes('memory'))
    expect(notEnforced.includes('Files, processes and network of this machine are within reach')).toBe(
      isolation === 'none',
    )
  })
})
