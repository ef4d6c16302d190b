import { type ChildProcess, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { devboxEnvironment, markers } from '../environment.ts'
import { type Enforcement, enforceLimits } from '../limits.ts'
import { bashrc, type Launch, type LocalCommand, type LocalSpec, spawnIn, userOf } from '../local/launch.ts'
import { createLocalBox, type LocalBox } from '../local/local-box.ts'
import { createLocalEngine } from '../local/local-engine.ts'
import { createConnector } from '../network/connector.ts'
import { type NetworkLaunches, type Outbound, openOutbound, resolverFile } from '../network/outbound.ts'
import { childrenOf, hasExited, signal, waitUntil } from '../processes.ts'
import { isRootFolder } from '../root-folders.ts'
import { masksFor, programFolders, publicEtc } from './host-files.ts'
import { callNumbers, seccompFilter } from './seccomp.ts'
import { overlaysOf, prepareSystem } from './system.ts'
import {
  allocateUsers,
  chownDisk,
  hasDedicatedUsers,
  isPrivileged,
  isRoot,
  runAsUser,
  systemMount,
  unshare,
} from './users.ts'

export const createBubblewrap = createLocalEngine({
  isolation: 'bubblewrap',
  description:
    'Isolated by bubblewrap: separate users, processes, network, files and host name; the host system is read-only',
  startBox: (spec, report) => startBubblewrap(spec, report),
})

/** An idle init process holds the namespaces. Commands join it, and the kernel kills them all when it exits. */
export const startBubblewrap = async (spec: LocalSpec, report?: (sentence: string) => void): Promise<LocalBox> =>
  startWithMasks(spec, await masksFor(spec), report)

/** Why bubblewrap doesn't work on this host; undefined if it does. */
export const bubblewrapProblem = async (): Promise<string | undefined> => {
  for (const file of [bwrap, nsenter, unshare, perl]) if (!existsSync(file)) return `${file} is missing`
  const folder = await mkdtemp(join(tmpdir(), 'devdeck-probe-'))
  try {
    const box = await startWithMasks(
      {
        devboxId: 'probe',
        serviceId: basename(folder),
        hostname: 'probe',
        dataDir: folder,
        home: folder,
        tmp: folder,
        run: folder,
        limits: { cpuCores: 1, memoryBytes: 2 ** 30, diskBytes: 2 ** 30 },
        network: 'none',
      },
      [],
    )
    const test = await box.start({ argv: ['/bin/bash', '-c', 'test "$HOME" = "$PWD" && touch probe'], env: {} })
    test.stdout.resume()
    const [errorOutput, status] = await Promise.all([text(test.stderr), test.exited])
    await box.stop()
    return status === 0 ? undefined : `a test command failed: ${errorOutput.trim() || status}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const startWithMasks = async (
  spec: LocalSpec,
  masks: readonly string[],
  report: (sentence: string) => void = () => undefined,
): Promise<LocalBox> => {
  const enforcement = await enforceLimits(spec, 'bubblewrap', report)
  const user = hasDedicatedUsers() ? allocateUsers(spec.devboxId, spec.system ? 'range' : 'single') : undefined
  const end = async () => {
    await enforcement.end()
    user?.release()
  }
  let holder: ChildProcess | undefined
  try {
    const ownerUid = user && user.uid + (spec.system?.hasHome ? 1000 : 0)
    if (ownerUid !== undefined) await chownDisk(ownerUid, spec)
    if (spec.system) await prepareSystem(user?.uid, spec.system)
    // Init exits when this pipe closes; --die-with-parent covers an orphaned bwrap. Detached, so it has no access to
    // the operator's terminal and gets no Ctrl-C from it.
    holder = spawnIn(
      {
        ...boxCommand(spec, user?.uid, masks),
        env: { PATH: '/usr/bin:/bin', ...markers(spec) },
        cwd: '/',
        cgroupFiles: enforcement.launch.cgroupFiles,
      },
      { stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'], detached: true },
    )
    const [, , , , passwd, group, filter] = holder.stdio as (Writable | null)[]
    const { uid, name } = userOf(spec)
    for (const pipe of [passwd, group, filter]) pipe?.on('error', () => undefined)
    passwd?.end(withUser(readFileSync('/etc/passwd', 'utf8'), name, uid, `:${homeOf(spec)}:/bin/bash`))
    group?.end(withUser(readFileSync('/etc/group', 'utf8'), name, uid, ''))
    filter?.end(seccompFilter())
    const init = await readInitPid(holder)
    for (const pid of [holder.pid ?? 0, init]) lowerOutOfMemoryScore(pid)
    const namespaces = { holder: holder.pid ?? 0, init, hasOwnUser: user !== undefined }
    const launches = networkLaunches(spec, namespaces, enforcement)
    const outbound = await openOutbound(launches, spec.network, spec.privateNetwork ?? false, report)
    return runningBox(spec, { ...enforcement, end }, holder, { ...namespaces, uid: ownerUid }, outbound)
  } catch (error) {
    holder?.kill('SIGKILL')
    await end()
    throw error
  }
}

const runningBox = (
  spec: LocalSpec,
  enforcement: Enforcement,
  holder: ChildProcess,
  namespaces: Namespaces & { uid: number | undefined },
  outbound: Outbound,
): LocalBox => {
  const { init, uid } = namespaces
  const connector = createConnector((command) => enterNetwork(spec, namespaces, command))
  const exited = once(holder, 'exit')
  const cleanUp = async () => {
    if (holder.exitCode === null && holder.signalCode === null) await exited
    await Promise.all([outbound.end(), connector.close()])
    await enforcement.end()
  }
  const cleaned = cleanUp()
  let isStopped = false
  const ended = cleaned
    .catch(() => undefined)
    .then(() => (isStopped ? undefined : { cause: 'The devbox was killed from outside' }))
  return createLocalBox(spec, {
    home: homeOf(spec),
    tmp,
    run,
    bashrc: bashrcInside,
    ended,
    ...(uid !== undefined && { uid }),
    launch: (command) => ({ ...enforcement.launch, ...enter(spec, namespaces, outbound.environment, command) }),
    ptmx: `/proc/${init}/root/dev/pts/ptmx`,
    leader: (spawnedPid) => childrenOf(spawnedPid)[0],
    notEnforced: [
      ...(outbound.notEnforced === undefined ? [] : [outbound.notEnforced]),
      ...(seccompFilter() ? [] : [`System calls: no filter on ${process.arch}`]),
      ...(uid === undefined ? ["User: processes run as the service's user on the host"] : []),
      ...enforcement.notEnforced,
    ],
    outOfMemoryKills: enforcement.outOfMemoryKills,
    connect: connector.connect,
    async stop() {
      isStopped = true
      if (holder.exitCode === null && holder.signalCode === null) {
        holder.stdin?.destroy()
        if (childrenOf(holder.pid ?? 0).includes(init)) signal(init, 'SIGKILL')
        else holder.kill('SIGKILL')
      }
      await cleaned.catch(cleanUp)
      await waitUntil(() => hasExited(init))
    },
  })
}

/** Makes the kernel kill the memory hog rather than this process. */
const lowerOutOfMemoryScore = (pid: number) => {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, isPrivileged ? '-500' : '0')
  } catch {
    // It has exited, or lowering its score isn't permitted.
  }
}

const readInitPid = async (holder: ChildProcess): Promise<number> => {
  const errorOutput = text(holder.stderr as Readable).catch(() => '')
  const stdout = holder.stdout as Readable
  const [info] = await Promise.all([
    text(holder.stdio[3] as Readable).catch(() => ''),
    Promise.race([once(stdout, 'data'), once(stdout, 'end')]),
  ])
  const pid = /"child-pid":\s*(\d+)/.exec(info)?.[1]
  if (pid !== undefined && holder.exitCode === null && !hasExited(Number(pid))) return Number(pid)
  holder.kill('SIGKILL')
  throw new Error((await errorOutput).trim() || 'bwrap did not start')
}

const withUser = (file: string, name: string, id: number, rest: string): string => {
  const others = file
    .split('\n')
    .filter((each) => each !== '' && !each.startsWith(`${name}:`) && each.split(':')[2] !== String(id))
  return `${[...others, rest === '' ? `${name}:x:${id}:` : `${name}:x:${id}:${id}:${rest}`].join('\n')}\n`
}

const networkLaunches = (
  spec: LocalSpec,
  namespaces: Namespaces,
  { launch: { cgroupFiles } }: Enforcement,
): NetworkLaunches => {
  const command = ([file = '', ...args]: readonly string[]): Launch => ({
    file,
    args,
    env: { PATH: '/usr/bin:/bin', ...markers(spec) },
    cwd: '/',
    cgroupFiles,
  })
  const namespacePrefix = throughHolder(namespaces).slice(0, -1)
  return {
    inNetwork: (argv) => enterNetwork(spec, namespaces, argv),
    onHostNetwork: (argv) => command([...(namespacePrefix.length > 0 ? [nsenter, ...namespacePrefix] : []), ...argv]),
    unprivileged: command,
    path: `/proc/${namespaces.init}/ns/net`,
  }
}

const nsenter = '/usr/bin/nsenter'
const perl = '/usr/bin/perl'
const enterScript = fileURLToPath(new URL('./enter.pl', import.meta.url))

// `enter.pl` starts outside the devbox and must not see its variables, such as LD_PRELOAD.
const prefix = 'DEVDECK_SET_'

interface Namespaces {
  holder: number
  init: number
  hasOwnUser: boolean
}

// Every mount is nosuid and new mounts need a user namespace, so no file can grant privileges.
const enter = (
  spec: LocalSpec,
  { holder, init, hasOwnUser }: Namespaces,
  outbound: Outbound['environment'],
  { argv, env, tty }: LocalCommand,
): Launch => {
  const all = { ...devboxEnvironment(spec, { home: homeOf(spec), tmp }, userOf(spec).name), ...outbound, ...env }
  return {
    appliesLimits: true,
    file: perl,
    args: [
      ...['-f', enterScript, callNumbers(), seccompFilter()?.toString('hex') ?? ''],
      ...[
        hasOwnUser ? String(userOf(spec).uid) : '',
        spec.system ? rootCapabilities.join(',') : '',
        isPrivileged ? '' : String(holder),
        String(init),
      ],
      // The user namespace last, since it owns the others. Unprivileged users enter through it.
      spec.system && !hasOwnUser ? 'net,ipc,uts,pid,mnt' : 'net,ipc,uts,pid,mnt,user',
      tty ?? '',
      ...argv,
    ],
    env: {
      PATH: '/usr/bin:/bin',
      ...markers(spec),
      ...Object.fromEntries(Object.entries(all).map(([name, value]) => [prefix + name, value])),
    },
    cwd: '/',
  }
}

// Default container capabilities (CHOWN to SYS_CHROOT) without MKNOD and NET_RAW.
const rootCapabilities = [0, 1, 3, 4, 5, 6, 7, 8, 10, 18]

const enterNetwork = (spec: LocalSpec, namespaces: Namespaces, argv: readonly string[]): Launch => ({
  file: nsenter,
  args: [...throughHolder(namespaces), '-t', String(namespaces.init), '-n', '--', ...argv],
  env: { PATH: '/usr/bin:/bin', ...markers(spec) },
  cwd: '/',
})

const throughHolder = ({ holder }: Namespaces) =>
  isPrivileged ? [] : [`--user=/proc/${holder}/ns/user`, '--preserve-credentials', '--', nsenter]

const bwrap = '/usr/bin/bwrap'
const tmp = '/tmp'
const run = '/run/devdeck'
const bashrcInside = '/run/devdeck-bashrc'

const hasHome = ({ system }: LocalSpec) => !system || system.hasHome === true

const homeOf = (spec: LocalSpec) => {
  if (!hasHome(spec)) return '/root'
  return spec.system ? '/home/user' : `/home/${userOf(spec).name}`
}

const boxCommand = (
  spec: LocalSpec,
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

const boxArguments = (spec: LocalSpec, masks: readonly string[], at: (source: string) => string): string[] => [
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
  ...['--hostname', spec.hostname, '--die-with-parent', '--as-pid-1'],
  ...(spec.system ? ['--cap-drop', 'ALL', '--bind', systemMount, '/'] : machineArguments(spec)),
  ...masks.filter(existsSync).flatMap(hide),
  ...['--proc', '/proc', ...(isRoot && !hasDedicatedUsers() ? lockedProcFiles() : [])],
  ...['--dev', '/dev', ...sharedMemory(spec), '--remount-ro', '/dev'],
  ...(hasHome(spec) ? ['--bind', at(spec.tmp), tmp, '--bind', at(spec.home), homeOf(spec)] : []),
  ...(spec.system ? [] : ['--symlink', tmp, '/var/tmp']),
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

const machineArguments = (spec: LocalSpec): string[] => [
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

const sharedMemory = (spec: LocalSpec): string[] =>
  hasOption('--size') ? ['--perms', '1777', ...memorySize(spec), '--tmpfs', '/dev/shm'] : ['--tmpfs', '/dev/shm']

const memorySize = ({ limits }: LocalSpec): string[] =>
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
