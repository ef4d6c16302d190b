import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Launch, SandboxSpec } from '../engine.ts'
import { hasCapabilities, isRoot } from './privileges.ts'
import { callNumbers } from './seccomp.ts'

export const unshare = '/usr/bin/unshare'
const script = fileURLToPath(new URL('./run-as-user.pl', import.meta.url))

/** Where what a devbox sees of the service's folders is mounted for bwrap, seen by nothing else. */
const place = '/tmp'

// Numbers that nobody gives away: below are those of useradd, subuid and systemd's containers, above are negative ones.
const first = 0x70000000
const count = 0x07ffffff
/** Behind them are those of devboxes that have all the users a system has. */
const firstRange = 0x78000000
const ranges = 0x7ff
const usersOfSystem = 0x10000

/** Whether this process may run devboxes as users that are nobody else on this machine. */
export const hasOwnUsers = (): boolean => {
  known ??=
    isRoot &&
    hasCapabilities('CHOWN', 'DAC_OVERRIDE', 'SETGID', 'SETUID', 'SYS_CHROOT', 'SYS_ADMIN') &&
    ['uid_map', 'gid_map'].every(mapsAll)
  return known
}
let known: boolean | undefined

const taken = new Set<number>()

/**
 * A user for one start of a devbox: the same one every time, unless another running devbox has it. Two devboxes never
 * have one at once, so not even the kernel takes the processes or files of one for those of the other.
 */
export const takeOwnUser = (devboxId: string): { uid: number; release(): void } => {
  const start = createHash('sha256').update(devboxId).digest().readUInt32BE() % count
  let uid = first + start
  for (let next = start + 1; taken.has(uid); next++) uid = first + (next % count)
  taken.add(uid)
  return { uid, release: () => void taken.delete(uid) }
}

/** As many users as a system has, for one start of a devbox: the number of the first, which is root inside. */
export const takeOwnUsers = (devboxId: string): { uid: number; release(): void } => {
  const start = createHash('sha256').update(devboxId).digest().readUInt32BE()
  for (let i = 0; i < ranges; i++) {
    const uid = firstRange + ((start + i) % ranges) * usersOfSystem
    if (taken.has(uid)) continue
    taken.add(uid)
    return { uid, release: () => void taken.delete(uid) }
  }
  throw new Error(`${ranges} devboxes have users of their own already`)
}

/** Gives what is kept of a devbox to its user: nothing to do but for a new disk, a copied one, or one from before. */
export const giveDiskTo = async (uid: number, { home, tmp, run, root }: SandboxSpec): Promise<void> => {
  const folders = root === undefined ? [] : (await readdir(root)).map((name) => join(root, name))
  const others: string[] = []
  for (const path of [home, tmp, run, ...folders]) if ((await lstat(path)).uid !== uid) others.push(path)
  if (others.length === 0) return
  // It changes a folder after all that is in it: after a crash the first one tells that this is to be done again.
  await promisify(execFile)('/usr/bin/chown', ['-hR', `${uid}:${uid}`, '--', ...others], { maxBuffer: 2 ** 26 })
}

/** One mount of a system. */
export interface Overlay {
  path: string
  upper: string
  work: string
  /** From the top down, each with its first user. */
  layers: readonly { firstUid: number; folder: string; isPublic?: boolean }[]
}

/** Where the system that overlays make is mounted for bwrap. */
export const systemPlace = `${place}/system`

/**
 * Runs bwrap as that user, or without one as root of a user namespace that has no other. `command` gets a function that
 * returns where a folder of the service's is mounted for it.
 */
export const asOwnUser = (
  uid: number | undefined,
  command: (at: (source: string) => string) => string[],
  overlays: readonly Overlay[] = [],
): Pick<Launch, 'file' | 'args'> => {
  const sources: string[] = []
  const at = (source: string) => `${place}/${sources.push(source) - 1}`
  const argv = command(at)
  return {
    file: unshare,
    args: [
      ...(uid === undefined ? ['--user', '--map-root-user'] : []),
      ...[
        '--mount',
        '--',
        '/usr/bin/perl',
        '-f',
        script,
        callNumbers(),
        String(uid ?? ''),
        String(overlays.length > 0 && uid !== undefined ? usersOfSystem : 1),
        place,
      ],
      ...[String(sources.length), ...sources, String(overlays.length), ...overlays.flatMap(overlayArguments), ...argv],
    ],
  }
}

const overlayArguments = ({ path, upper, work, layers }: Overlay): string[] => [
  ...[path, upper, work, String(layers.length)],
  ...layers.flatMap(({ firstUid, folder, isPublic }) => [isPublic ? 'public' : 'own', String(firstUid), folder]),
]

/** In a container the range may be missing. */
const mapsAll = (file: string): boolean =>
  readFileSync(`/proc/self/${file}`, 'utf8')
    .trim()
    .split('\n')
    .some((line) => {
      const [start = 0, , length = 0] = line.trim().split(/\s+/).map(Number)
      return start <= first && start + length >= first + count
    })
