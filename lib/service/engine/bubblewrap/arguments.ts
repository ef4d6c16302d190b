import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bashrc, isRootFolder, type Launch, type SandboxSpec, userOf } from '../engine.ts'
import { resolverFile } from '../network/outbound.ts'
import { programFolders, publicEtc } from './host-files.ts'
import { seccompFilter } from './seccomp.ts'
import { overlaysOf } from './system.ts'
import { hasDedicatedUsers, isRoot, runAsUser, systemMount, unshare } from './users.ts'

export const bwrap = '/usr/bin/bwrap'
export const tmp = '/tmp'
export const run = '/run/devdeck'
export const bashrcInside = '/run/devdeck-bashrc'

export const homeOf = (spec: SandboxSpec) => (spec.system ? '/root' : `/home/${userOf(spec).name}`)

export const boxCommand = (
  spec: SandboxSpec,
  uid: number | undefined,
  masks: readonly string[],
): Pick<Launch, 'file' | 'args'> => {
  const command = (at: (source: string) => string) => [bwrap, ...boxArguments(spec, masks, at)]
  if (uid !== undefined || spec.system) return runAsUser(uid, command, spec.system ? overlaysOf(spec.system) : [])
  // Only root of a user namespace may join namespaces it owns, and bwrap's inner one can't be named from outside. An
  // extra outer namespace makes it possible to enter.
  return {
    file: unshare,
    args: [
      ...['--user', '--map-root-user'],
      ...(isRoot ? ['--mount', '--', '/bin/sh', '-c', lockDevices, 'devbox'] : ['--']),
      ...command((source) => source),
    ],
  }
}

// Without dedicated users the devbox acts as root on the host's devices, so /dev/null's mode could be changed for
// everyone; remount them read-only.
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const lockDevices = `for device in ${devices.join(' ')}; do mount -n -o bind,ro /dev/$device /dev/$device & done; wait; exec "$@"`

const boxArguments = (spec: SandboxSpec, masks: readonly string[], at: (source: string) => string): string[] => [
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
  ...['--hostname', spec.hostname, '--die-with-parent', '--as-pid-1'],
  ...(spec.system ? ['--cap-drop', 'ALL', '--bind', systemMount, '/'] : machineArguments(spec)),
  ...masks.filter(existsSync).flatMap(hide),
  ...['--proc', '/proc', ...(isRoot && !hasDedicatedUsers() ? lockedProcFiles() : [])],
  ...['--dev', '/dev', ...sharedMemory(spec), '--remount-ro', '/dev'],
  ...(spec.system ? [] : ['--bind', at(spec.tmp), tmp, '--symlink', tmp, '/var/tmp']),
  ...(spec.system ? [] : ['--bind', at(spec.home), homeOf(spec)]),
  ...['--bind', at(spec.run), run],
  ...['--ro-bind', at(bashrc), bashrcInside],
  ...['--ro-bind', at(resolverFile), '/etc/resolv.conf'],
  ...(spec.root === undefined ? [] : rootFolders(spec.root, at)),
  ...(spec.system ? [] : ['--ro-bind-data', '4', '/etc/passwd', '--ro-bind-data', '5', '/etc/group']),
  ...(spec.system ? [] : ['--remount-ro', '/etc']),
  ...(spec.root === undefined && !spec.system ? ['--remount-ro', '/'] : []),
  ...['--info-fd', '3'],
  ...(seccompFilter() ? ['--seccomp', '6'] : []),
  ...['/bin/bash', '--norc', '-c', 'trap "" HUP INT TERM; echo ready; exec >/dev/null 2>&1; read -r _'],
]

const machineArguments = (spec: SandboxSpec): string[] => [
  ...(spec.root === undefined ? [] : [...memorySize(spec), '--tmpfs', '/']),
  ...['--unshare-user', '--uid', String(userOf(spec).uid), '--gid', String(userOf(spec).uid)],
  // Nested user namespaces could mount cgroups and lift their limits.
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

// /proc files that root can write or only root can read. The kernel checks the host uid, which is root for a devbox
// without dedicated users: writing core_pattern would run code as root on the host.
const lockedProcFiles = (): string[] =>
  // Without file types: `withFileTypes` throws if a process exits during the call.
  readdirSync('/proc')
    .filter((name) => !/^\d+$/.test(name))
    .flatMap((name) => {
      const path = `/proc/${name}`
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
