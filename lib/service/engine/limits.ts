import { createGroup, maxProcesses, places } from './cgroup.ts'
import type { Isolation, Launch, SandboxSpec } from './engine.ts'
import { watchForks } from './fork-watch.ts'

/** How far a devbox's limits hold on this machine. */
export interface Enforcement {
  /** What every launch into the devbox needs so that they hold for it. */
  readonly launch: Required<Pick<Launch, 'joins' | 'ulimits'>>
  readonly notEnforced: readonly string[]
  outOfMemoryKills(): number
  /** Ends what is left of the devbox and gives back what the limits took. */
  end(): Promise<void>
}

export type LimitKind = 'cgroup2' | 'cgroup1' | 'rlimit' | 'none'

/** Limits a devbox by a cgroup where one can be made, else by what each process allows. */
export const enforceLimits = async (
  spec: SandboxSpec,
  isolation: Isolation,
  tell: (sentence: string) => void,
): Promise<Enforcement> => {
  const { limits } = spec
  const group = await createGroup(spec, limits)
  const limited = group?.limited ?? new Set()
  const ulimits = [`-f ${Math.floor(limits.diskBytes / 1024)}`]
  const notEnforced: string[] = []
  if (!limited.has('memory')) {
    // Data size, not address space: Go and Java reserve more of that than any machine has.
    ulimits.push(`-d ${Math.floor(limits.memoryBytes / 1024)}`)
    notEnforced.push(`Memory: ${gigabytes(limits.memoryBytes)} for each process, not for all together`)
  }
  if (!limited.has('cpu')) notEnforced.push(`CPU: ${limits.cpuCores} asked for, not limited`)
  if (!limited.has('pids')) {
    // The kernel counts by user and user namespace: outside of one it would count the user's desktop, and it never
    // counts for root.
    if (countsProcesses(isolation)) ulimits.push(`-u ${maxProcesses(limits)}`)
    else notEnforced.push('Processes: any number, not limited')
  }
  notEnforced.push(
    `Disk: ${gigabytes(limits.diskBytes)} at once for each file; for all together it is measured every few seconds, and a devbox that holds more is suspended`,
  )
  const unwatch = group && limited.has('pids') && limited.has('cpu') ? watchForks(group, limits, tell) : undefined
  return {
    launch: { joins: group?.joins ?? [], ulimits },
    notEnforced,
    outOfMemoryKills: () => group?.outOfMemoryKills() ?? 0,
    end: async () => {
      unwatch?.()
      await group?.end()
    },
  }
}

/** How limits are enforced on this machine, and which cannot be. */
export const describeLimits = (isolation: Isolation): { kind: LimitKind; detail: string } => {
  const found = places()
  const version = found[0]?.version
  const controllers = found.flatMap((place) => place.controllers)
  if (version !== undefined) {
    const missing = (['memory', 'cpu', 'pids'] as const).filter((one) => !controllers.includes(one))
    const detail = `${controllers.join(', ')}${missing.length > 0 ? `; not ${missing.join(', ')}` : ''}; disk for each file`
    return { kind: version === 2 ? 'cgroup2' : 'cgroup1', detail }
  }
  const processes = countsProcesses(isolation) ? ', number of processes' : ''
  return { kind: 'rlimit', detail: `no cgroup is writable; memory and disk for each process and file${processes}` }
}

const countsProcesses = (isolation: Isolation) => isolation === 'bubblewrap' && process.getuid?.() !== 0

const gigabytes = (bytes: number) => `${Number((bytes / 2 ** 30).toFixed(2))} GB`
