import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { Limits } from './box.ts'
import type { LocalSpec } from './local/launch.ts'
import { signal, waitUntil } from './processes.ts'

type Controller = 'memory' | 'cpu' | 'pids'

/** Parent of the devbox cgroups, below the service's own if possible so that its limits apply too. */
interface CgroupParent {
  version: 1 | 2
  folder: string
  controllers: readonly Controller[]
}

export type Cgroup = ReturnType<typeof runningGroup>

export const createGroup = async (spec: Pick<LocalSpec, 'serviceId' | 'devboxId'>, limits: Limits) => {
  const folders = cgroupParents().map((place) => ({ ...place, folder: join(place.folder, groupName(spec)) }))
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

export const removeGroupOf = (spec: Pick<LocalSpec, 'serviceId' | 'devboxId'>): Promise<void> =>
  removeGroups(cgroupParents().map(({ folder }) => join(folder, groupName(spec))))

/** Kills all devbox processes of a service and removes their cgroups, wherever its last process created them. */
export const removeGroupsOf = async (serviceId: string): Promise<void> => {
  const prefix = groupName({ serviceId, devboxId: '' })
  const all = mounts().flatMap(({ mountPoint }) => foldersBelow(mountPoint))
  await removeGroups(all.filter((folder) => basename(folder).startsWith(prefix)))
}

const ownName = 'devdeck-service'
/** Every call waits for the service, which needs little CPU. */
const serviceWeight = 4

/** Gives the service CPU priority over its devboxes. Returns an undo function. */
export const prioritizeService = (): (() => void) => {
  const place = cgroupParents().find(({ version, controllers }) => version === 1 && controllers.includes('cpu'))
  // Version 2 does this in `moveToLeaf`; leaving a cgroup there would mean leaving the systemd unit.
  if (!place) return () => undefined
  const folder = join(place.folder, ownName)
  const move = (to: string) => write(join(to, 'cgroup.procs'), process.pid)
  try {
    mkdirSync(folder, { recursive: true })
    write(join(folder, 'cpu.shares'), serviceWeight * 1024)
    move(folder)
  } catch {
    return () => undefined
  }
  return () =>
    unlessMissing(() => {
      move(place.folder)
      remove(folder)
    })
}

export const cgroupParents = (): readonly CgroupParent[] => {
  known ??= findParents()
  return known
}
let known: readonly CgroupParent[] | undefined

const groupName = ({ serviceId, devboxId }: Pick<LocalSpec, 'serviceId' | 'devboxId'>) =>
  `devdeck-${serviceId}-${devboxId}`

const runningGroup = (folders: readonly CgroupParent[], limits: Limits) => {
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
    cgroupFiles: folders.map(joinFile),
    limited: new Set(folders.flatMap(({ controllers }) => controllers)),
    outOfMemoryKills: count,
    refusedProcesses() {
      const text = read(join(placeOf('pids')?.folder ?? '', 'pids.events'))
      return Number(/^max (\d+)$/m.exec(text ?? '')?.[1] ?? 0)
    },
    limitCpu(cpuCores: number) {
      const place = placeOf('cpu')
      if (place) unlessMissing(() => setLimit(place, 'cpu', { ...limits, cpuCores }))
    },
    async end() {
      count()
      await removeGroups(paths)
    },
  }
}

// In version 1 a thread can move alone, which avoids pausing all forks on the host. Version 2 moves whole processes.
const joinFile = ({ version, folder }: Pick<CgroupParent, 'version' | 'folder'>) =>
  join(folder, version === 2 ? 'cgroup.procs' : 'tasks')

/** Unspecified: process limit. 1024 per core is enough for any build and contains fork bombs. */
export const maxProcesses = ({ cpuCores }: Limits) => 1024 * Math.max(1, Math.ceil(cpuCores))

// Unused time of one period carries over to the next, so a short command after a pause isn't throttled.
const periodUs = 100_000

const setLimit = ({ version, folder }: CgroupParent, controller: Controller, limits: Limits) => {
  const set = (file: string, value: number | string) => write(join(folder, file), value)
  const quotaUs = Math.max(1000, Math.round(limits.cpuCores * periodUs))
  if (controller === 'pids') set('pids.max', maxProcesses(limits))
  else if (controller === 'cpu' && version === 2) {
    unlessMissing(() => set('cpu.max.burst', 0))
    set('cpu.max', `${quotaUs} ${periodUs}`)
    unlessMissing(() => set('cpu.max.burst', quotaUs))
  } else if (controller === 'cpu') {
    unlessRefused(() => set('cpu.cfs_burst_us', 0))
    set('cpu.cfs_period_us', periodUs)
    unlessRefused(() => set('cpu.cfs_quota_us', quotaUs))
    unlessRefused(() => set('cpu.cfs_burst_us', quotaUs))
  } else if (version === 2) {
    set('memory.max', limits.memoryBytes)
    unlessMissing(() => set('memory.swap.max', 0))
  } else {
    set('memory.limit_in_bytes', limits.memoryBytes)
    unlessMissing(() => set('memory.memsw.limit_in_bytes', limits.memoryBytes))
  }
}

const removeGroups = async (folders: readonly string[]): Promise<void> => {
  for (const folder of folders) {
    // Block new processes, and let dying ones use a whole core.
    unlessMissing(() => write(join(folder, 'pids.max'), 0))
    unlessMissing(() => write(join(folder, 'cpu.max'), 'max'))
    unlessMissing(() => write(join(folder, 'cpu.cfs_quota_us'), -1))
  }
  await waitUntil(() => {
    const all = folders.flatMap((folder) => [...foldersBelow(folder), folder])
    for (const pid of new Set(all.flatMap(membersOf))) if (pid > 0 && pid !== process.pid) signal(pid, 'SIGKILL')
    return all.map(remove).every(Boolean)
  })
}

const membersOf = (folder: string): number[] =>
  (read(join(folder, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number)

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

const requiredControllers: readonly Controller[] = ['memory', 'cpu', 'pids']

const findParents = (): CgroupParent[] => {
  const own = ownGroups()
  const found: CgroupParent[] = []
  for (const { version, controllers, mountPoint, root } of mounts()) {
    const missing = requiredControllers.filter(
      (controller) => !found.some((place) => place.controllers.includes(controller)),
    )
    const path = own.find((group) => (version === 2 ? group.id === '0' : group.controllers.some(isOneOf(controllers))))
    if (!path || missing.length === 0) continue
    const below = relative(root, path.path)
    const folder = below.startsWith('..') ? mountPoint : join(mountPoint, below)
    const candidates =
      version === 2
        ? version2Parents(folder, mountPoint, missing)
        : [{ version, folder, controllers: missing.filter(isOneOf(controllers)) }]
    const place = candidates.find(works)
    if (place) found.push(place)
  }
  return found
}

const version2Parents = (own: string, top: string, missing: readonly Controller[]): CgroupParent[] => {
  moveToLeaf(own, missing)
  const all: CgroupParent[] = []
  for (let folder = own; ; folder = dirname(folder)) {
    const delegated = (read(join(folder, 'cgroup.subtree_control')) ?? '').trim().split(' ')
    all.push({ version: 2, folder, controllers: missing.filter(isOneOf(delegated)) })
    if (folder === top || folder === '/') break
  }
  return all.sort((a, b) => b.controllers.length - a.controllers.length)
}

// A cgroup with processes can't have limited children. If systemd delegated this cgroup (Delegate=yes), move into a
// child, as the kernel documentation recommends.
const moveToLeaf = (own: string, controllers: readonly Controller[]) => {
  if (membersOf(own).join() !== String(process.pid)) return
  const leaf = join(own, ownName)
  try {
    mkdirSync(leaf, { recursive: true })
    write(join(leaf, 'cgroup.procs'), process.pid)
  } catch {
    return
  }
  for (const name of controllers)
    try {
      write(join(own, 'cgroup.subtree_control'), `+${name}`)
    } catch {
      // Not delegated.
    }
  unlessRefused(() => write(join(leaf, 'cpu.weight'), serviceWeight * 100))
}

const works = (place: CgroupParent): boolean => {
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
      // Never created.
    }
  }
}

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

const foldersBelow = (folder: string): string[] => {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name))
      .flatMap((path) => [...foldersBelow(path), path])
  } catch {
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
    return undefined
  }
}

/** Never creates files, unlike the default flag. */
const write = (file: string, value: number | string) => writeFileSync(file, String(value), { flag: 'r+' })

const unlessMissing = (act: () => void) => unless(['ENOENT', 'ENODEV'], act)

const unlessRefused = (act: () => void) => unless(['ENOENT', 'EINVAL', 'EACCES', 'EPERM'], act)

const unless = (codes: readonly string[], act: () => void) => {
  try {
    act()
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
