import { type ChildProcess, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { type Enforcement, enforceLimits } from './limits.ts'
import { connectToLoopback } from './loopback.ts'
import { createConnector } from './own-network.ts'
import { privatePaths } from './private-paths.ts'
import { childrenOf, isGone, signal, waitUntil } from './processes.ts'
import { machinePython, type Python } from './python.ts'
import {
  type Box,
  baseEnvironment,
  bashrc,
  type Command,
  isRootFolder,
  type Launch,
  markers,
  type Sandbox,
  type Site,
  spawnIn,
  takeTerminal,
  userOf,
} from './sandbox.ts'

const bwrap = '/usr/bin/bwrap'
const nsenter = '/usr/bin/nsenter'
const unshare = '/usr/bin/unshare'
const tmp = '/tmp'
const run = '/run/devdeck'
const bashrcInside = '/run/devdeck-bashrc'

/**
 * One set of namespaces per devbox (user, mount, pid, ipc, uts, and network when it is to have none), held by a first
 * process that does nothing but wait. Commands join by nsenter, so they see one another, and the kernel ends them all
 * with the first process.
 */
export const bubblewrap: Sandbox & { problem(): Promise<string | undefined> } = {
  isolation: 'bubblewrap',

  start: async (site) => startBox(site, await secretPaths()),

  /** Why this sandbox cannot be used on this machine, found out by using it. */
  async problem() {
    for (const file of [bwrap, nsenter, unshare]) if (!existsSync(file)) return `${file} is missing`
    const folder = await mkdtemp(join(tmpdir(), 'devdeck-probe-'))
    try {
      // Without hidden secrets: finding them takes longer than all the rest, and the probe reads none.
      const box = await startBox(
        {
          devboxId: 'probe',
          // Several services may be probing.
          serviceId: basename(folder),
          hostname: 'probe',
          home: folder,
          tmp: folder,
          run: folder,
          limits: { cpuCores: 1, memoryBytes: 2 ** 30, diskBytes: 2 ** 30 },
          network: 'host',
        },
        [],
      )
      const command = { argv: ['/bin/bash', '-c', 'test "$HOME" = "$PWD" && touch probe'], env: {} }
      const child = spawnIn(box.launch(command), { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
      const words = text(child.stderr)
      const [code] = await once(child, 'exit')
      await box.stop()
      return code === 0 ? undefined : `a first command failed: ${(await words).trim() || code}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

const startBox = async (site: Site, secrets: readonly string[]): Promise<Box> => {
  const python = site.root === undefined ? undefined : await machinePython()
  const enforcement = await enforceLimits(site, 'bubblewrap')
  try {
    // The first process ends when this pipe closes, and --die-with-parent is there for a bwrap that was left alone.
    // Detached, it has no terminal of the operator's that a devbox might write to, and takes no Ctrl-C from there.
    const holder = spawnIn(
      {
        ...asRoot(boxArguments(site, secrets, python)),
        env: { PATH: '/usr/bin:/bin', ...markers(site) },
        cwd: '/',
        joins: enforcement.launch.joins,
      },
      { stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'], detached: true },
    )
    const [, , , , passwd, group] = holder.stdio as (Writable | null)[]
    const { uid, name } = userOf(site)
    for (const pipe of [passwd, group]) pipe?.on('error', () => undefined)
    passwd?.end(withUser(readFileSync('/etc/passwd', 'utf8'), name, uid, `:${homeOf(site)}:/bin/bash`))
    group?.end(withUser(readFileSync('/etc/group', 'utf8'), name, uid, ''))
    const init = await readInitPid(holder)
    for (const pid of [holder.pid ?? 0, init]) spareFromOutOfMemory(pid)
    return runningBox(site, enforcement, holder, init)
  } catch (error) {
    await enforcement.end()
    throw error
  }
}

const homeOf = (site: Site) => `/home/${userOf(site).name}`

const runningBox = (site: Site, enforcement: Enforcement, holder: ChildProcess, init: number): Box => {
  const namespaces = { holder: holder.pid ?? 0, init, network: site.network === 'none' }
  const connector = namespaces.network
    ? createConnector((command) => enterNetwork(site, namespaces, command))
    : undefined
  const gone = once(holder, 'exit')
  const cleanUp = async () => {
    await gone
    connector?.close()
    await enforcement.end()
  }
  // A failure is reported by `stop`, which cleans up again.
  const ended = cleanUp().catch(() => undefined)
  return {
    home: homeOf(site),
    tmp,
    run,
    bashrc: bashrcInside,
    ended,
    launch: (command) => ({ ...enforcement.launch, ...enter(site, namespaces, command) }),
    ptmx: `/proc/${init}/root/dev/pts/ptmx`,
    leader: (spawnedPid) => childrenOf(spawnedPid)[0],
    notEnforced: [
      ...(connector ? [] : ['Network: that of this machine, abstract sockets included']),
      ...(hasOption('--disable-userns') ? [] : ['User namespaces can be made, within which limits may be lifted']),
      ...enforcement.notEnforced,
    ],
    outOfMemoryKills: enforcement.outOfMemoryKills,
    connect: connector?.connect ?? connectToLoopback,
    async stop() {
      if (holder.exitCode === null && holder.signalCode === null) {
        holder.stdin?.destroy()
        // Its end is the end of the whole pid namespace.
        if (childrenOf(holder.pid ?? 0).includes(init)) signal(init, 'SIGKILL')
        else holder.kill('SIGKILL')
      }
      await cleanUp()
      await waitUntil(() => isGone(init))
    },
  }
}

/** When the devbox's memory is used up, the kernel is to kill what used it, not what holds the devbox. */
const spareFromOutOfMemory = (pid: number) => {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, isPrivileged ? '-500' : '0')
  } catch {
    // It has ended, or this user's processes may not be spared; then it is as likely as any other of its size.
  }
}

const isRoot = process.getuid?.() === 0
const sysAdmin = 1n << 21n

/** In a container root may be without the right to make namespaces, and then does as any user. */
const isPrivileged = isRoot && (effectiveCapabilities() & sysAdmin) !== 0n

// Only root of a user namespace may join what belongs to it, and bwrap makes two, one in the other, of which only the
// inner one can be named from outside. So without privileges bwrap runs in one more, through which commands enter.
const asRoot = (args: string[]): Pick<Launch, 'file' | 'args'> => ({
  file: unshare,
  args: [
    ...(isPrivileged ? [] : ['--user', '--map-root-user']),
    ...(isRoot ? ['--mount', '--', '/bin/sh', '-c', lockDevices, 'devbox'] : ['--']),
    ...[bwrap, ...args],
  ],
})

// When the service runs as root, the devbox's user owns what root owns outside, and bwrap mounts the machine's own
// devices writable: without this a devbox could change the mode of /dev/null for everyone.
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const lockDevices = `for device in ${devices.join(' ')}; do mount -n -o bind,ro /dev/$device /dev/$device & done; wait; exec "$@"`

/** Root is empty but for what is named here: neither the service's data nor another devbox's home is visible. */
const boxArguments = (site: Site, secrets: readonly string[], python: Python | undefined): string[] => [
  ...(site.root === undefined ? [] : [...memorySize(site), '--tmpfs', '/']),
  ...['--unshare-user', '--uid', String(userOf(site).uid), '--gid', String(userOf(site).uid)],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', ...(site.network === 'none' ? ['--unshare-net'] : [])],
  // In a user namespace of their own, processes could mount the cgroups and lift their limits.
  ...(hasOption('--disable-userns') ? ['--disable-userns'] : []),
  ...['--hostname', site.hostname, '--die-with-parent', '--as-pid-1'],
  ...['usr', 'etc', 'opt', 'bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap(systemFolder),
  ...secrets.filter(existsSync).flatMap(hide),
  // Name resolution often points there.
  ...['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve'],
  ...['--proc', '/proc', ...(isRoot ? lockedProcFiles() : [])],
  // /dev is in memory: the devbox may write to /dev/shm only, which has a limit.
  ...['--dev', '/dev', ...sharedMemory(site), '--remount-ro', '/dev'],
  ...['--bind', site.tmp, tmp, '--symlink', tmp, '/var/tmp'],
  ...['--bind', site.home, homeOf(site)],
  ...['--bind', site.run, run],
  ...['--ro-bind', bashrc, bashrcInside],
  ...(site.root === undefined ? ['--remount-ro', '/'] : rootFolders(site.root)),
  ...(python?.folders ?? []).flatMap((folder) => ['--ro-bind', folder, folder]),
  ...['--ro-bind-data', '4', '/etc/passwd', '--ro-bind-data', '5', '/etc/group'],
  ...['--info-fd', '3'],
  // It reaps what is orphaned in the devbox; as process 1 it takes no signal from inside.
  ...['/bin/bash', '-c', 'trap "" HUP INT TERM; echo ready; exec >/dev/null 2>&1; read -r _'],
]

const hasOption = (option: string): boolean => {
  help ??= execFileSync(bwrap, ['--help'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return help.includes(`${option} `)
}
let help: string | undefined

const sharedMemory = (site: Site): string[] =>
  hasOption('--size') ? ['--perms', '1777', ...memorySize(site), '--tmpfs', '/dev/shm'] : ['--tmpfs', '/dev/shm']

const memorySize = ({ limits }: Site): string[] =>
  hasOption('--size') ? ['--size', String(Math.floor(limits.memoryBytes / 2))] : []

const rootFolders = (root: string): string[] =>
  readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isRootFolder(entry.name))
    .flatMap(({ name }) => ['--bind', join(root, name), `/${name}`])

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

const systemFolder = (name: string): string[] => {
  const path = `/${name}`
  if (!existsSync(path)) return []
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}

const hide = (path: string): string[] =>
  lstatSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]

/** Paths that not every user of the machine may read, in folders that a devbox sees. Found at the first start. */
const secretPaths = (): Promise<readonly string[]> => {
  secrets ??= (isRoot ? privatePaths(localFolders, alwaysSecret) : Promise.resolve([])).then((found) => [
    ...alwaysSecret,
    ...found,
  ])
  return secrets
}
let secrets: Promise<readonly string[]> | undefined

const alwaysSecret = ['/etc/sudoers.d', '/etc/ssh', '/etc/ssl/private']

// The rest of /usr comes from public packages, and searching it takes seconds.
const localFolders = ['/etc', '/opt', '/usr/local']

/** The host's pid of the box's first process, which prints a line once the box is complete. */
const readInitPid = async (holder: ChildProcess): Promise<number> => {
  const complaint = text(holder.stderr)
  const stdout = holder.stdout as Readable
  const [info] = await Promise.all([
    text(holder.stdio[3] as Readable),
    Promise.race([once(stdout, 'data'), once(stdout, 'end')]),
  ])
  const pid = /"child-pid":\s*(\d+)/.exec(info)?.[1]
  if (pid !== undefined && holder.exitCode === null && !isGone(Number(pid))) return Number(pid)
  holder.kill('SIGKILL')
  throw new Error((await complaint).trim() || 'bwrap did not start')
}

/** The account file with the devbox's user in place of users with the same name or number. */
const withUser = (file: string, name: string, id: number, rest: string): string => {
  const others = file
    .split('\n')
    .filter((each) => each !== '' && !each.startsWith(`${name}:`) && each.split(':')[2] !== String(id))
  return `${[...others, rest === '' ? `${name}:x:${id}:` : `${name}:x:${id}:${id}:${rest}`].join('\n')}\n`
}

function effectiveCapabilities(): bigint {
  return BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'}`)
}

const text = async (stream: Readable | null): Promise<string> => {
  let all = ''
  try {
    for await (const chunk of stream ?? []) all += chunk
  } catch {
    // A broken pipe is read like one that has ended.
  }
  return all
}

const prefix = 'DEVDECK_SET_'

// nsenter itself runs outside the devbox and must not get the devbox's variables: LD_PRELOAD would take effect there.
// They are passed under another name and renamed by the first process inside. `command` keeps bash from ending at a
// read-only name, as UID, under POSIXLY_CORRECT.
const takeEnvironment = `for _devdeck in \${!${prefix}@}; do command export "\${_devdeck#${prefix}}=\${!_devdeck}"; unset "$_devdeck"; done 2>/dev/null; unset _devdeck; cd; exec "$@"`

interface Namespaces {
  holder: number
  init: number
  /** Whether the devbox has a network of its own. */
  network: boolean
}

// Every mount of the box is nosuid, and none can be made without a user namespace: no file gives further rights.
const enter = (site: Site, namespaces: Namespaces, { argv, env, tty }: Command): Launch => {
  const all = { ...baseEnvironment(site, { home: homeOf(site), tmp }), ...env }
  return {
    file: nsenter,
    args: [
      ...throughHolder(namespaces),
      ...['-t', String(namespaces.init), '-U', '--preserve-credentials', '-m', '-p', '-i', '-u'],
      ...(namespaces.network ? ['-n'] : []),
      '--',
      // In a session of its own the command has a session number inside as well, and may take a terminal.
      '/usr/bin/setsid',
      ...(tty === undefined
        ? ['/bin/bash', '-c', takeEnvironment, 'devbox']
        : ['/bin/bash', '-c', takeTerminal + takeEnvironment, 'devbox', tty]),
      ...argv,
    ],
    env: {
      PATH: '/usr/bin:/bin',
      ...markers(site),
      ...Object.fromEntries(Object.entries(all).map(([name, value]) => [prefix + name, value])),
    },
    cwd: '/',
  }
}

/** A command of the service's own, on the devbox's network and otherwise outside of it. */
const enterNetwork = (site: Site, namespaces: Namespaces, argv: readonly string[]): Launch => ({
  file: nsenter,
  args: [...throughHolder(namespaces), '-t', String(namespaces.init), '-n', '--', ...argv],
  env: { PATH: '/usr/bin:/bin', ...markers(site) },
  cwd: '/',
})

const throughHolder = ({ holder }: Namespaces) =>
  isPrivileged ? [] : [`--user=/proc/${holder}/ns/user`, '--preserve-credentials', '--', nsenter]
