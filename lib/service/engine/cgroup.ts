import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { Limits, SandboxSpec } from './engine.ts'
import { signal, waitUntil } from './processes.ts'

/** What a cgroup can limit, of either version. */
export type Controller = 'memory' | 'cpu' | 'pids'

/** A place for groups: below the service's own cgroup where that can be, so that limits of the service bind them too. */
interface Place {
  version: 1 | 2
  folder: string
  controllers: readonly Controller[]
}

/** The processes of one devbox as the kernel counts and limits them. */
export interface Group {
  /** A process that writes `0` into each of these is in the group, with all that it starts. */
  readonly joins: readonly string[]
  readonly limited: ReadonlySet<Controller>
  outOfMemoryKills(): number
  /** How many processes it was refused because it had as many as it may have. */
  refusedProcesses(): number
  /** Another limit of the processor's time than that of the devbox. */
  limitCpu(cores: number): void
  /** Kills every process of the group, those too that start more meanwhile, and removes it. */
  end(): Promise<void>
}

/** The group of one start of a devbox, limited; undefined where this process may make none. */
export const createGroup = async (spec: Pick<SandboxSpec, 'serviceId' | 'devboxId'>, limits: Limits) => {
  const folders = places().map((place) => ({ ...place, folder: join(place.folder, groupName(spec)) }))
  if (folders.length === 0) return undefined
  await removeGroups(folders.map(({ folder }) => folder))
  const group = runningGroup(folders, limits)
  try {
    for (const place of folders) {
      mkdirSync(place.folder)
      for (const controller of place.controllers) setLimit(place, controller, limits)
    }
    return group
  } catch (error) {
    await group.end()
    throw error
  }
}

/** Kills what is in the group of a devbox of this process, and removes it. */
export const removeGroupOf = (spec: Pick<SandboxSpec, 'serviceId' | 'devboxId'>): Promise<void> =>
  removeGroups(places().map(({ folder }) => join(folder, groupName(spec))))

/** Kills what is in the groups of a service, and removes them, wherever its last process had them. */
export const removeGroupsOf = async (serviceId: string): Promise<void> => {
  const prefix = groupName({ serviceId, devboxId: '' })
  const all = mounts().flatMap(({ mountPoint }) => foldersBelow(mountPoint))
  await removeGroups(all.filter((folder) => basename(folder).startsWith(prefix)))
}

const ownName = 'devdeck-service'
/** Of what a program has: the service does little for each call, and many wait for it. Devboxes keep the share of a program. */
const ownShares = 4

/**
 * Has the kernel give this process the processor before its devboxes where both want it. What it starts goes along until
 * it joins the group of its devbox. Returns how to undo that.
 */
export const goBeforeDevboxes = (): (() => void) => {
  const place = places().find(({ version, controllers }) => version === 1 && controllers.includes('cpu'))
  // In version 2 it is done where this process has a group of its own: to leave one would be to leave its unit.
  if (!place) return () => undefined
  const folder = join(place.folder, ownName)
  const move = (to: string) => write(join(to, 'cgroup.procs'), process.pid)
  try {
    mkdirSync(folder, { recursive: true })
    write(join(folder, 'cpu.shares'), ownShares * 1024)
    move(folder)
  } catch {
    // Another service removes the group that both share; then it waits for the processor like any program.
    return () => undefined
  }
  return () =>
    unlessMissing(() => {
      move(place.folder)
      remove(folder)
    })
}

/** Where devboxes of this process get their groups; one entry, or one for each hierarchy of version 1. */
export const places = (): readonly Place[] => {
  known ??= findPlaces()
  return known
}
let known: readonly Place[] | undefined

const groupName = ({ serviceId, devboxId }: Pick<SandboxSpec, 'serviceId' | 'devboxId'>) =>
  `devdeck-${serviceId}-${devboxId}`

const runningGroup = (folders: readonly Place[], limits: Limits): Group => {
  const paths = folders.map(({ folder }) => folder)
  const placeOf = (controller: Controller) => folders.find(({ controllers }) => controllers.includes(controller))
  let kills = 0
  const count = () => {
    const place = placeOf('memory')
    const text = place && read(join(place.folder, place.version === 2 ? 'memory.events' : 'memory.oom_control'))
    kills = Number(/^oom_kill (\d+)$/m.exec(text ?? '')?.[1] ?? kills)
    return kills
  }
  return {
    joins: folders.map(joinFile),
    limited: new Set(folders.flatMap(({ controllers }) => controllers)),
    outOfMemoryKills: count,
    refusedProcesses() {
      const text = read(join(placeOf('pids')?.folder ?? '', 'pids.events'))
      return Number(/^max (\d+)$/m.exec(text ?? '')?.[1] ?? 0)
    },
    limitCpu(cpuCores) {
      const place = placeOf('cpu')
      if (place) unlessMissing(() => setLimit(place, 'cpu', { ...limits, cpuCores }))
    },
    async end() {
      count()
      await removeGroups(paths)
    },
  }
}

// A thread may move alone in version 1, which spares the kernel a pause of all forks on the machine; version 2 knows
// only whole processes there.
const joinFile = ({ version, folder }: Pick<Place, 'version' | 'folder'>) =>
  join(folder, version === 2 ? 'cgroup.procs' : 'tasks')

/**
 * Unspecified: the number of processes. 1024 and as many for each further core hold any build, and cost a fork bomb's
 * neighbours little.
 */
export const maxProcesses = ({ cpuCores }: Limits) => 1024 * Math.max(1, Math.ceil(cpuCores))

// What was not used of one period may be used in the next, so that a short command after a pause is not held up.
const periodUs = 100_000

const setLimit = ({ version, folder }: Place, controller: Controller, limits: Limits) => {
  const set = (file: string, value: number | string) => write(join(folder, file), value)
  const quotaUs = Math.max(1000, Math.round(limits.cpuCores * periodUs))
  if (controller === 'pids') set('pids.max', maxProcesses(limits))
  else if (controller === 'cpu' && version === 2) {
    // What was saved up may not be more than what is given anew.
    unlessMissing(() => set('cpu.max.burst', 0))
    set('cpu.max', `${quotaUs} ${periodUs}`)
    unlessMissing(() => set('cpu.max.burst', quotaUs))
  } else if (controller === 'cpu') {
    unlessRefused(() => set('cpu.cfs_burst_us', 0))
    set('cpu.cfs_period_us', periodUs)
    // Refused when the service itself may have less.
    unlessRefused(() => set('cpu.cfs_quota_us', quotaUs))
    unlessRefused(() => set('cpu.cfs_burst_us', quotaUs))
  } else if (version === 2) {
    set('memory.max', limits.memoryBytes)
    unlessMissing(() => set('memory.swap.max', 0))
  } else {
    set('memory.limit_in_bytes', limits.memoryBytes)
    // Memory and swap together.
    unlessMissing(() => set('memory.memsw.limit_in_bytes', limits.memoryBytes))
  }
}

/** Kills and removes groups. Each may be gone already. */
const removeGroups = async (folders: readonly string[]): Promise<void> => {
  for (const folder of folders) {
    // Nothing more can start, and dying processes get a whole core.
    unlessMissing(() => write(join(folder, 'pids.max'), 0))
    unlessMissing(() => write(join(folder, 'cpu.max'), 'max'))
    unlessMissing(() => write(join(folder, 'cpu.cfs_quota_us'), -1))
  }
  await waitUntil(() => {
    // A devbox may have made groups below, as a service that runs in it does.
    const all = folders.flatMap((folder) => [...foldersBelow(folder), folder])
    for (const pid of new Set(all.flatMap(membersOf))) if (pid > 0 && pid !== process.pid) signal(pid, 'SIGKILL')
    return all.map(remove).every(Boolean)
  })
}

const membersOf = (folder: string): number[] =>
  (read(join(folder, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number)

/** False while it is in use by a process, also by one that the kernel is still ending. */
const remove = (folder: string): boolean => {
  try {
    rmdirSync(folder)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return true
    if (code === 'EBUSY') return false
    throw error
  }
}

const wanted: readonly Controller[] = ['memory', 'cpu', 'pids']

const findPlaces = (): Place[] => {
  const own = ownGroups()
  const found: Place[] = []
  for (const { version, controllers, mountPoint, root } of mounts()) {
    const missing = wanted.filter((controller) => !found.some((place) => place.controllers.includes(controller)))
    const path = own.find((group) => (version === 2 ? group.id === '0' : group.controllers.some(isOneOf(controllers))))
    if (!path || missing.length === 0) continue
    // Seen through a mount of a part of the tree, as in a container, the path may lie outside of it.
    const below = relative(root, path.path)
    const folder = below.startsWith('..') ? mountPoint : join(mountPoint, below)
    const candidates =
      version === 2
        ? placesOfVersion2(folder, mountPoint, missing)
        : [{ version, folder, controllers: missing.filter(isOneOf(controllers)) }]
    const place = candidates.find(works)
    if (place) found.push(place)
  }
  return found
}

/** The service's own cgroup and those above that hand controllers down; the nearest with the most comes first. */
const placesOfVersion2 = (own: string, top: string, missing: readonly Controller[]): Place[] => {
  makeRoomForGroups(own, missing)
  const all: Place[] = []
  for (let folder = own; ; folder = dirname(folder)) {
    const handedDown = (read(join(folder, 'cgroup.subtree_control')) ?? '').trim().split(' ')
    all.push({ version: 2, folder, controllers: missing.filter(isOneOf(handedDown)) })
    if (folder === top || folder === '/') break
  }
  return all.sort((a, b) => b.controllers.length - a.controllers.length)
}

// A cgroup with processes of its own cannot have limited ones below it. Where this process is alone in one that was
// handed to it (systemd's Delegate=yes), it moves down by one, as the kernel's documentation asks for.
const makeRoomForGroups = (own: string, controllers: readonly Controller[]) => {
  if (membersOf(own).join() !== String(process.pid)) return
  const leaf = join(own, ownName)
  try {
    mkdirSync(leaf, { recursive: true })
    write(join(leaf, 'cgroup.procs'), process.pid)
  } catch {
    // It was not delegated to this process; the cgroups above are left.
    return
  }
  for (const name of controllers)
    try {
      write(join(own, 'cgroup.subtree_control'), `+${name}`)
    } catch {
      // The cgroups above do not hand this one down.
    }
  unlessRefused(() => write(join(leaf, 'cpu.weight'), ownShares * 100))
}

/** Tried out by making a group, and in version 2, where joining needs further rights, by having a process join it. */
const works = (place: Place): boolean => {
  if (place.controllers.length === 0) return false
  const folder = join(place.folder, groupName({ serviceId: 'probe', devboxId: String(process.pid) }))
  try {
    mkdirSync(folder, { recursive: true })
    for (const controller of place.controllers)
      setLimit({ ...place, folder }, controller, { cpuCores: 1, memoryBytes: 2 ** 28, diskBytes: 0 })
    if (place.version === 2)
      execFileSync('/bin/sh', ['-c', 'echo 0 > "$1"', 'probe', joinFile({ ...place, folder })], { stdio: 'ignore' })
    return true
  } catch {
    return false
  } finally {
    try {
      rmdirSync(folder)
    } catch {
      // Never made.
    }
  }
}

/** The mounted hierarchies, `root` being the part of each that is seen. */
const mounts = () =>
  (read('/proc/self/mountinfo') ?? '').split('\n').flatMap((line) => {
    const [before, after] = line.split(' - ')
    const [, , , root, mountPoint] = before?.split(' ') ?? []
    const [type, , options] = after?.split(' ') ?? []
    if (root === undefined || mountPoint === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return []
    const version: 1 | 2 = type === 'cgroup2' ? 2 : 1
    return [{ version, root, mountPoint, controllers: options?.split(',') ?? [] }]
  })

const ownGroups = () =>
  (read('/proc/self/cgroup') ?? '').split('\n').flatMap((line) => {
    const [, id, controllers, path] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? []
    return id === undefined || path === undefined ? [] : [{ id, controllers: controllers?.split(',') ?? [], path }]
  })

/** Innermost first. */
const foldersBelow = (folder: string): string[] => {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name))
      .flatMap((path) => [...foldersBelow(path), path])
  } catch {
    // Removed meanwhile, or not readable.
    return []
  }
}

const isOneOf =
  (all: readonly string[]) =>
  (one: string): boolean =>
    all.includes(one)

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Gone, or not readable.
    return undefined
  }
}

/** Into a file that is there: the kernel's own are never made by opening them. */
const write = (file: string, value: number | string) => writeFileSync(file, String(value), { flag: 'r+' })

/** For files that exist in one version only, or with swap accounting only, and for groups that have gone. */
const unlessMissing = (act: () => void) => unless(['ENOENT', 'ENODEV'], act)

const unlessRefused = (act: () => void) => unless(['ENOENT', 'EINVAL', 'EACCES', 'EPERM'], act)

const unless = (codes: readonly string[], act: () => void) => {
  try {
    act()
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
