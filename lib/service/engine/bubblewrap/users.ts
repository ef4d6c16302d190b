import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Launch, LocalSpec } from '../local/launch.ts'
import { callNumbers } from './seccomp.ts'

const numbers = { CHOWN: 0, DAC_OVERRIDE: 1, SETGID: 6, SETUID: 7, SYS_CHROOT: 18, SYS_ADMIN: 21 }

export const isRoot = process.getuid?.() === 0

const hasCapabilities = (...names: (keyof typeof numbers)[]): boolean => {
  const status = readFileSync('/proc/self/status', 'utf8')
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
  return names.every((name) => (effective & (1n << BigInt(numbers[name]))) !== 0n)
}

export const isPrivileged = isRoot && hasCapabilities('SYS_ADMIN')

export const unshare = '/usr/bin/unshare'
const script = fileURLToPath(new URL('./run-as-user.pl', import.meta.url))

const mountPoint = '/tmp'

const usersOfSystem = 0x10000
// Unused uids, above those of useradd, subuid and systemd, and below negative ones.
const pools = {
  single: { first: 0x70000000, size: 1, count: 0x07ffffff },
  range: { first: 0x78000000, size: usersOfSystem, count: 0x7ff },
}

/** Whether devboxes can run as uids that no one else on the host uses. */
export const hasDedicatedUsers = (): boolean => {
  known ??=
    isRoot &&
    hasCapabilities('CHOWN', 'DAC_OVERRIDE', 'SETGID', 'SETUID', 'SYS_CHROOT', 'SYS_ADMIN') &&
    ['uid_map', 'gid_map'].every(mapsAll)
  return known
}
let known: boolean | undefined

const taken = new Set<number>()

/** Stable across starts of a devbox unless in use, and never shared by two running devboxes. */
export const allocateUsers = (name: string, kind: keyof typeof pools): { uid: number; release(): void } => {
  const { first, size, count } = pools[kind]
  const start = createHash('sha256').update(name).digest().readUInt32BE()
  for (let i = 0; i < count; i++) {
    const uid = first + ((start + i) % count) * size
    if (taken.has(uid)) continue
    taken.add(uid)
    return { uid, release: () => void taken.delete(uid) }
  }
  throw new Error(`All ${count} user ranges are in use`)
}

export const chownDisk = async (uid: number, { home, tmp, run, root }: LocalSpec): Promise<void> => {
  const folders = root === undefined ? [] : (await readdir(root)).map((name) => join(root, name))
  const others: string[] = []
  for (const path of [home, tmp, run, ...folders]) if ((await lstat(path)).uid !== uid) others.push(path)
  if (others.length === 0) return
  // chown -R changes a folder after its contents, so an interrupted run is repeated.
  await promisify(execFile)('/usr/bin/chown', ['-hR', `${uid}:${uid}`, '--', ...others], { maxBuffer: 2 ** 26 })
}

export interface Overlay {
  path: string
  upper: string
  work: string
  /** Top layer first; `firstUid` is the host uid of the layer's root. */
  layers: readonly { firstUid: number; folder: string; isPublic?: boolean }[]
}

export const systemMount = `${mountPoint}/system`

/** Runs `command` as `uid`, or as root of a user namespace; `at` maps a service folder to its mount point. */
export const runAsUser = (
  uid: number | undefined,
  command: (at: (source: string) => string) => string[],
  overlays: readonly Overlay[] = [],
): Pick<Launch, 'file' | 'args'> => {
  const sources: string[] = []
  const at = (source: string) => `${mountPoint}/${sources.push(source) - 1}`
  const argv = command(at)
  return {
    file: unshare,
    args: [
      ...(uid === undefined ? ['--user', '--map-root-user'] : []),
      ...['--mount', '--', '/usr/bin/perl', '-f', script, callNumbers(), String(uid ?? '')],
      ...[String(overlays.length > 0 && uid !== undefined ? usersOfSystem : 1), mountPoint],
      ...[String(sources.length), ...sources, String(overlays.length), ...overlays.flatMap(overlayArguments), ...argv],
    ],
  }
}

const overlayArguments = ({ path, upper, work, layers }: Overlay): string[] => [
  ...[path, upper, work, String(layers.length)],
  ...layers.flatMap(({ firstUid, folder, isPublic }) => [isPublic ? 'public' : 'own', String(firstUid), folder]),
]

const mapsAll = (file: string): boolean =>
  readFileSync(`/proc/self/${file}`, 'utf8')
    .trim()
    .split('\n')
    .some((line) => {
      const [start = 0, , length = 0] = line.trim().split(/\s+/).map(Number)
      return start <= pools.single.first && start + length >= pools.range.first
    })
