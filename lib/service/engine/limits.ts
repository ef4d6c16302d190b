import type { Limits } from './box.ts'
import { type Cgroup, cgroupParents, createGroup, maxProcesses } from './cgroup.ts'
import type { LocalIsolation, LocalSpec } from './local/launch.ts'

export type Enforcement = Awaited<ReturnType<typeof enforceLimits>>

export const enforceLimits = async (spec: LocalSpec, isolation: LocalIsolation, report: (sentence: string) => void) => {
  const { limits } = spec
  const group = await createGroup(spec, limits)
  const limited = group?.limited ?? new Set()
  const ulimits = [`-f ${Math.floor(limits.diskBytes / 1024)}`]
  const notEnforced: string[] = []
  if (!limited.has('memory')) {
    // Data size, not address space: Go and Java reserve far more than the host has.
    ulimits.push(`-d ${Math.floor(limits.memoryBytes / 1024)}`)
    notEnforced.push(`Memory: ${gigabytes(limits.memoryBytes)} per process, not in total`)
  }
  if (!limited.has('cpu')) notEnforced.push(`CPU: ${limits.cpuCores} requested, not limited`)
  if (!limited.has('pids')) {
    // The kernel counts per user and user namespace: outside a namespace it would count the user's desktop, and root is
    // never limited.
    if (countsProcesses(isolation)) ulimits.push(`-u ${maxProcesses(limits)}`)
    else notEnforced.push('Processes: not limited')
  }
  notEnforced.push(
    `Disk: ${gigabytes(limits.diskBytes)} per file; total usage is measured every few seconds and a devbox over the limit is suspended`,
  )
  const unwatch =
    group && limited.has('pids') && limited.has('cpu') ? throttleForkBombs(group, limits, report) : undefined
  return {
    launch: { cgroupFiles: group?.cgroupFiles ?? [], ulimits },
    notEnforced,
    outOfMemoryKills: () => group?.outOfMemoryKills() ?? 0,
    end: async () => {
      unwatch?.()
      await group?.end()
    },
  }
}

export const describeLimits = (isolation: LocalIsolation): string => {
  const found = cgroupParents()
  const controllers = found.flatMap((parent) => parent.controllers)
  if (found.length === 0) {
    const processes = countsProcesses(isolation) ? ', number of processes' : ''
    return `no writable cgroup; memory per process, disk per file${processes}`
  }
  const missing = (['memory', 'cpu', 'pids'] as const).filter((one) => !controllers.includes(one))
  return `${controllers.join(', ')}${missing.length > 0 ? `; not ${missing.join(', ')}` : ''}; disk per file`
}

const countsProcesses = (isolation: LocalIsolation) => isolation === 'bubblewrap' && process.getuid?.() !== 0

export const gigabytes = (bytes: number) => `${Number((bytes / 2 ** 30).toFixed(2))} GB`

const checkIntervalMs = 500
const forkBombRefusals = 50
const throttledCores = 0.05
const checksUntilCalm = 20

// Throttles a devbox to 5% of a core while it keeps hitting its process limit. Each refused fork takes kernel-wide
// locks: an unthrottled fork bomb made other accounts' calls 3 to 7 times slower. Returns a stop function.
const throttleForkBombs = (
  group: Pick<Cgroup, 'refusedProcesses' | 'limitCpu'>,
  limits: Limits,
  report: (sentence: string) => void,
): (() => void) => {
  let refused = 0
  let checksLeft = 0
  const check = () => {
    const before = refused
    refused = group.refusedProcesses()
    const isForkBomb = refused - before >= forkBombRefusals
    if (isForkBomb && checksLeft === 0) {
      group.limitCpu(Math.min(throttledCores, limits.cpuCores))
      report(
        `Process limit of ${maxProcesses(limits)} exceeded repeatedly; CPU throttled to 5% of a core until this stops`,
      )
    }
    if (isForkBomb) checksLeft = checksUntilCalm
    else if (checksLeft > 0 && refused > before) checksLeft = checksUntilCalm
    else if (checksLeft > 0 && --checksLeft === 0) {
      group.limitCpu(limits.cpuCores)
      report('Process limit no longer exceeded; CPU restored')
    }
  }
  const timer = setInterval(check, checkIntervalMs).unref()
  return () => clearInterval(timer)
}
