import type { ChildProcess, SpawnOptions } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { spawnProcess } from '#lib/service/kit/spawn.ts'
import { signal } from './processes.ts'

export type Isolation = 'bubblewrap' | 'none'

/** Where and as whom a devbox lives on this machine. */
export interface SandboxSpec {
  devboxId: string
  /** The service the devbox belongs to: how its processes are found again after a crash of the service. */
  serviceId: string
  hostname: string
  /** Everything the service keeps. Masked where the devbox sees the folder that holds it. */
  dataDir: string
  /** Host directories that stay when the devbox is suspended. */
  home: string
  tmp: string
  /** Host directory for files of one start of the devbox, empty at that start. */
  run: string
  /** Host directory; each folder in it is one at `/`, and the devbox may make more there. Absent: `/` is read-only. */
  root?: string
  /** A writable system in which the devbox is root. Its home and `/tmp` are in that, as all is but for what is in `root`. */
  system?: System
  limits: Limits
  network: Network
  /** Whether the neighbours of this machine are reached beside public addresses. */
  privateNetwork?: boolean
  /** The user of the devbox's processes, where the sandbox has users of its own; absent: `user`, 1000, or root of its own system. */
  user?: User
}

/** What a devbox with a system of its own begins with, and the host directory of all that it changes. */
export interface System {
  /** Made by `makeSystemBase`. */
  base: string
  /** What others have changed, from the first on. */
  layers: readonly Layer[]
  own: string
}

export interface Layer {
  folder: string
  /** The number outside of its root. */
  firstUid: number
}

/** What a devbox reaches beyond a loopback of its own: nothing, any public address, or these names alone. */
export type Network = 'none' | 'public' | { hostnames: readonly string[] }

export interface User {
  uid: number
  name: string
}

/** What a devbox may take of its machine at most. */
export interface Limits {
  cpuCores: number
  memoryBytes: number
  diskBytes: number
}

export interface Command {
  argv: readonly string[]
  env: Readonly<Record<string, string>>
  /**
   * Path, for the devbox, of a terminal: the command reads from it, writes to it and is controlled by it. What is spawned
   * has to lead a session. Without one the command leads a session of its own.
   */
  tty?: string
}

/** What to spawn on the host, by `spawnIn`, so that the command runs in the devbox, in its home directory. */
export interface Launch {
  file: string
  args: string[]
  env: Record<string, string>
  cwd: string
  /** Files to write `0` into first, which makes the process a member of the cgroups that limit the devbox. */
  joins?: readonly string[]
  /** Options of bash's `ulimit`. */
  ulimits?: readonly string[]
  /** The program does itself what `spawnIn` has a shell do: it is told in DEVDECK_LAUNCH. */
  limitsItself?: true
}

export interface Sandbox {
  /** The spec's directories as processes in the devbox see them. */
  readonly home: string
  readonly tmp: string
  readonly run: string
  /** The user outside, to whom its files belong; absent: the service's. */
  readonly uid?: number
  launch(command: Command): Launch
  /** For an interactive bash to read in place of ~/.bashrc, as processes in the devbox see it. */
  readonly bashrc: string
  /** Opens a terminal of the devbox's own /dev/pts; absent when it has none but the machine's. */
  readonly ptmx?: string
  /** The host's process id of the command itself, given the pid of what was spawned; undefined once it is gone. */
  leader(spawnedPid: number): number | undefined
  /** Ends every process of the devbox; resolves when none is left. */
  stop(): Promise<void>
  /** Resolves when the devbox's processes were ended, by `stop` or by something else. */
  readonly ended: Promise<void>
  /** What of the spec's limits and of the sandbox's promises does not hold on this machine, one sentence each. */
  readonly notEnforced: readonly string[]
  /** How many processes of the devbox the kernel killed because its memory was used up; 0 where that is unknown. */
  outOfMemoryKills(): number
  /** A connection to a TCP port of the devbox's own loopback. Rejects with an `ECONNREFUSED` when nothing listens. */
  connect(port: number): Promise<Duplex>
}

/** What commands, terminals and file operations need of the devbox they run in. */
export interface RunningDevbox {
  sandbox: Sandbox
  env: Record<string, string>
  /** The host's side of `sandbox.run`. */
  runFolder: string
  /** Keeps the devbox from counting as idle until the returned function is called. */
  busy(): () => void
}

export interface Engine {
  readonly isolation: Isolation
  /** `tell`: takes a sentence for the devbox's log on what happens later, as a name it called in vain. */
  start(spec: SandboxSpec, tell?: (sentence: string) => void): Promise<Sandbox>
}

/** Spawns a launch, and throws when that fails. Its environment replaces the service's; the cast is for Next's types, which want NODE_ENV. */
export const spawnIn = (
  launch: Launch,
  options: SpawnOptions & { stdio: ('pipe' | 'ignore' | 'ipc' | number)[] },
): ChildProcess => {
  const { file, args, cwd, env } = wrapped(launch, options.stdio.length)
  return spawnProcess(file, args, { ...options, cwd, env: env as NodeJS.ProcessEnv & typeof env })
}

/** Ends what was launched, wherever it is. The pid of one that has ended may be another's. */
export const endLaunched = ({ leader }: Sandbox, { pid, exitCode, signalCode }: ChildProcess): void => {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  const found = leader(pid)
  if (found !== undefined) signal(-found, 'SIGKILL')
}

/** On the host. */
export const bashrc = fileURLToPath(new URL('./bashrc', import.meta.url))

/**
 * One bash on the host before the command, for what Node cannot do between fork and exec.
 *
 * Files are closed because terminals are opened without close-on-exec: every process started later, of whichever devbox
 * and account, would hold the far end of all of them and could type into them. The umask would otherwise be the
 * service's, which allows other users nothing. When the machine's memory is used up, the kernel is to kill a devbox
 * rather than the service.
 */
const wrap = `for fd in /proc/self/fd/*; do fd=\${fd##*/}; ((fd < $1)) || eval "exec $fd>&-"; done
umask 022
for join in "\${@:4:$2}"; do echo 0 >"$join" || exit 126; done
for limit in "\${@:4+$2:$3}"; do ulimit $limit; done 2>/dev/null
echo 500 2>/dev/null >/proc/self/oom_score_adj
shift $((3 + $2 + $3)); unset fd join limit; exec "$@"`

/** For bash, before the command: its first argument is `tty`. The leader of a session gets a terminal by opening it. */
export const takeTerminal = 'exec <>"$1" >&0 2>&0; shift;'

/** The same launch within its limits and without any open file but the first `kept`. */
const wrapped = (launch: Launch, kept: number): Launch => {
  const { file, args, joins = [], ulimits = [], env } = launch
  if (launch.limitsItself)
    return { ...launch, env: { ...env, DEVDECK_LAUNCH: [kept, ...joins, ...ulimits].join('\n') } }
  return { ...launch, ...withShell(file, args, joins, ulimits, kept) }
}

const withShell = (
  file: string,
  args: readonly string[],
  joins: readonly string[],
  ulimits: readonly string[],
  kept: number,
): Pick<Launch, 'file' | 'args'> => ({
  file: '/bin/bash',
  // -p: nothing in the environment, which under plain processes is the devbox's own, is read or run by this bash. --norc:
  // with a socket as its input, as Node gives, it would take itself for a remote shell and run ~/.bashrc.
  args: [
    '--norc',
    '-p',
    '-c',
    wrap,
    'devbox',
    ...[kept, joins.length, ulimits.length].map(String),
    ...joins,
    ...ulimits,
    file,
    ...args,
  ],
})

/** Variables of every process of a devbox. The service's own are never passed on: they hold API keys. */
export const baseEnvironment = (spec: SandboxSpec, sandbox: Pick<Sandbox, 'home' | 'tmp'>): Record<string, string> => ({
  ...markers(spec),
  PATH: `${sandbox.home}/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  HOME: sandbox.home,
  TMPDIR: sandbox.tmp,
  USER: userOf(spec).name,
  LOGNAME: userOf(spec).name,
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
  DEVDECK_DEVBOX_NAME: spec.hostname,
})

/** Whether a devbox may have a folder of this name of its own at `/`: any but those the system runs from. */
export const isRootFolder = (name: string): boolean =>
  /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(name) && !systemFolders.includes(name)

const systemFolders = [
  ...['bin', 'boot', 'dev', 'etc', 'home', 'lib', 'lib32', 'lib64', 'libx32', 'proc', 'run', 'sbin', 'sys'],
  ...['tmp', 'usr', 'var'],
]

export const userOf = ({ user, system }: Pick<SandboxSpec, 'user' | 'system'>): User =>
  user ?? (system ? { uid: 0, name: 'root' } : { uid: 1000, name: 'user' })

/** By these two the processes of a service, and of one devbox of it, are found. */
export const markers = ({ serviceId, devboxId }: Pick<SandboxSpec, 'serviceId' | 'devboxId'>) => ({
  DEVDECK_SERVICE_ID: serviceId,
  DEVDECK_DEVBOX_ID: devboxId,
})
