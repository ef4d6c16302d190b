import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bashrc, isRootFolder, type Launch, type SandboxSpec, userOf } from '../engine.ts'
import { resolverFile } from '../network/outbound.ts'
import type { Python } from '../python.ts'
import { programFolders } from './machine-folders.ts'
import { isRoot } from './privileges.ts'
import { publicEtc } from './public-etc.ts'
import { seccompFilter } from './seccomp.ts'
import { overlaysOf } from './system.ts'
import { asOwnUser, hasOwnUsers, systemPlace, unshare } from './users.ts'

export const bwrap = '/usr/bin/bwrap'
export const tmp = '/tmp'
export const run = '/run/devdeck'
export const bashrcInside = '/run/devdeck-bashrc'

/** In a system of its own that of an image's root: whatever tasks make below /home, none is in their way. */
export const homeOf = (spec: SandboxSpec) => (spec.system ? '/root' : `/home/${userOf(spec).name}`)

/** Root is empty but for what is named here: neither the service's data nor another devbox's home is visible. */
export const boxCommand = (
  spec: SandboxSpec,
  uid: number | undefined,
  masks: readonly string[],
  python: Python | undefined,
): Pick<Launch, 'file' | 'args'> => {
  const command = (at: (source: string) => string) => [bwrap, ...boxArguments(spec, masks, python, at)]
  if (uid !== undefined || spec.system) return asOwnUser(uid, command, spec.system ? overlaysOf(spec.system) : [])
  // Only root of a user namespace may join what belongs to it, and bwrap makes two, one in the other, of which only the
  // inner one can be named from outside. So it runs in one more, through which commands enter.
  return {
    file: unshare,
    args: [
      ...['--user', '--map-root-user'],
      ...(isRoot ? ['--mount', '--', '/bin/sh', '-c', lockDevices, 'devbox'] : ['--']),
      ...command((source) => source),
    ],
  }
}

// Where root may not make users of their own for devboxes, as in many a container, a devbox's user owns what root owns
// outside, and bwrap mounts the machine's own devices writable: a devbox could change the mode of /dev/null for everyone.
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const lockDevices = `for device in ${devices.join(' ')}; do mount -n -o bind,ro /dev/$device /dev/$device & done; wait; exec "$@"`

const boxArguments = (
  spec: SandboxSpec,
  masks: readonly string[],
  python: Python | undefined,
  at: (source: string) => string,
): string[] => [
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
  ...['--hostname', spec.hostname, '--die-with-parent', '--as-pid-1'],
  ...(spec.system ? ['--cap-drop', 'ALL', '--bind', systemPlace, '/'] : machineArguments(spec)),
  ...masks.filter(existsSync).flatMap(hide),
  ...['--proc', '/proc', ...(isRoot && !hasOwnUsers() ? lockedProcFiles() : [])],
  // /dev is in memory: the devbox may write to /dev/shm only, which has a limit.
  ...['--dev', '/dev', ...sharedMemory(spec), '--remount-ro', '/dev'],
  ...(spec.system ? [] : ['--bind', at(spec.tmp), tmp, '--symlink', tmp, '/var/tmp']),
  ...(spec.system ? [] : ['--bind', at(spec.home), homeOf(spec)]),
  ...['--bind', at(spec.run), run],
  ...['--ro-bind', at(bashrc), bashrcInside],
  ...['--ro-bind', at(resolverFile), '/etc/resolv.conf'],
  ...(spec.root === undefined ? [] : rootFolders(spec.root, at)),
  ...(python?.folders ?? []).flatMap((folder) => ['--ro-bind', at(folder), folder]),
  ...(spec.system ? [] : ['--ro-bind-data', '4', '/etc/passwd', '--ro-bind-data', '5', '/etc/group']),
  ...(spec.system ? [] : ['--remount-ro', '/etc']),
  ...(spec.root === undefined && !spec.system ? ['--remount-ro', '/'] : []),
  ...['--info-fd', '3'],
  ...(seccompFilter() ? ['--seccomp', '6'] : []),
  // It reaps what is orphaned in the devbox; as process 1 it takes no signal from inside.
  ...['/bin/bash', '--norc', '-c', 'trap "" HUP INT TERM; echo ready; exec >/dev/null 2>&1; read -r _'],
]

/** The machine's own system, read-only, as one user. */
const machineArguments = (spec: SandboxSpec): string[] => [
  ...(spec.root === undefined ? [] : [...memorySize(spec), '--tmpfs', '/']),
  ...['--unshare-user', '--uid', String(userOf(spec).uid), '--gid', String(userOf(spec).uid)],
  // In a user namespace of their own, processes could mount the cgroups and lift their limits.
  ...(hasOption('--disable-userns') ? ['--disable-userns'] : []),
  ...programFolders.flatMap(systemFolder),
  ...publicEtc(),
]

const hasOption = (option: string): boolean => {
  help ??= execFileSync(bwrap, ['--help'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return help.includes(`${option} `)
}
let help: string | undefined

const sharedMemory = (spec: SandboxSpec): string[] =>
  hasOption('--size') ? ['--perms', '1777', ...memorySize(spec), '--tmpfs', '/dev/shm'] : ['--tmpfs', '/dev/shm']

const memorySize = ({ limits }: SandboxSpec): string[] =>
  hasOption('--size') ? ['--size', String(Math.floor(limits.memoryBytes / 2))] : []

const rootFolders = (root: string, at: (source: string) => string): string[] =>
  readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isRootFolder(entry.name))
    .flatMap(({ name }) => ['--bind', at(join(root, name)), `/${name}`])

/**
 * Files of /proc that root may change, or that only root may read. The kernel goes by the user's number outside, which is
 * root's for a devbox of a service that runs as root. Writing to /proc/sys/kernel/core_pattern would be running as root.
 */
const lockedProcFiles = (): string[] =>
  // Only names: with file types Node throws when a process ends during the call.
  readdirSync('/proc')
    .filter((name) => !/^\d+$/.test(name))
    .flatMap((name) => {
      const path = `/proc/${name}`
      // It shows the devbox's own ipc namespace.
      if (name === 'sysvipc') return []
      const stats = lstatSync(path)
      if (stats.isDirectory()) return ['--ro-bind', path, path]
      if (!stats.isFile()) return []
      if ((stats.mode & 0o004) === 0) return hide(path)
      return (stats.mode & 0o222) === 0 ? [] : ['--ro-bind', path, path]
    })

const systemFolder = (path: string): string[] => {
  if (!existsSync(path)) return []
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}

const hide = (path: string): string[] =>
  lstatSync(path).isDirectory() ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path]
