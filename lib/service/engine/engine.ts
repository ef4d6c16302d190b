import type { ChildProcess, SpawnOptions } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { spawnProcess } from '#lib/service/kit/spawn.ts'
import { signal } from './processes.ts'

export type Isolation = 'bubblewrap' | 'none'

export interface SandboxSpec {
  devboxId: string
  /** Owner of the processes; used to find them after a service crash. */
  serviceId: string
  hostname: string
  dataDir: string
  home: string
  tmp: string
  /** Host directory for files of this start; empty at first. */
  run: string
  /** Host directory whose folders appear at `/`. Without it `/` is read-only. */
  root?: string
  /** A writable root file system in which the devbox is root. It replaces `home` and `tmp`. */
  system?: System
  limits: Limits
  network: Network
  privateNetwork?: boolean
  /** Default: `user` (1000), or root on a separate root file system. */
  user?: User
}

export interface System {
  base: string
  layers: readonly Layer[]
  own: string
}

export interface Layer {
  folder: string
  /** Host uid of the layer's root. */
  firstUid: number
}

export type Network = 'none' | 'public' | { hostnames: readonly string[] }

export interface User {
  uid: number
  name: string
}

export interface Limits {
  cpuCores: number
  memoryBytes: number
  diskBytes: number
}

export interface Command {
  argv: readonly string[]
  env: Readonly<Record<string, string>>
  // Path inside the devbox of a controlling terminal used for stdin, stdout and stderr. The spawned process must lead a
  // session.
  tty?: string
}

export interface Launch {
  file: string
  args: string[]
  env: Record<string, string>
  cwd: string
  /** The process writes `0` to these files to join the devbox's cgroups. */
  cgroupFiles?: readonly string[]
  ulimits?: readonly string[]
  /** The program applies limits itself, from DEVDECK_LAUNCH, instead of the `spawnIn` wrapper. */
  appliesLimits?: true
}

export interface Sandbox {
  readonly home: string
  readonly tmp: string
  readonly run: string
  readonly uid?: number
  launch(command: Command): Launch
  /** Path inside the devbox of the interactive shells' bashrc. */
  readonly bashrc: string
  readonly ptmx?: string
  /** Host pid of the command itself, given the spawned pid; undefined after it exits. */
  leader(spawnedPid: number): number | undefined
  stop(): Promise<void>
  readonly ended: Promise<void>
  readonly notEnforced: readonly string[]
  outOfMemoryKills(): number
  /** Connects to a TCP port on the devbox's loopback. Rejects with ECONNREFUSED if nothing listens. */
  connect(port: number): Promise<Duplex>
}

export interface RunningDevbox {
  sandbox: Sandbox
  env: Record<string, string>
  runFolder: string
  /** Prevents idle shutdown until the returned function is called. */
  busy(): () => void
}

export interface Engine {
  readonly isolation: Isolation
  /** `report` receives later problems for the devbox's log, such as a blocked host name. */
  start(spec: SandboxSpec, report?: (sentence: string) => void): Promise<Sandbox>
}

/** Throws if the process can't start. The cast satisfies Next's types, which require NODE_ENV. */
export const spawnIn = (
  launch: Launch,
  options: SpawnOptions & { stdio: ('pipe' | 'ignore' | 'ipc' | number)[] },
): ChildProcess => {
  const { file, args, cwd, env } = wrapped(launch, options.stdio.length)
  return spawnProcess(file, args, { ...options, cwd, env: env as NodeJS.ProcessEnv & typeof env })
}

export const killLaunched = ({ leader }: Sandbox, { pid, exitCode, signalCode }: ChildProcess): void => {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  const found = leader(pid)
  if (found !== undefined) signal(-found, 'SIGKILL')
}

export const bashrc = fileURLToPath(new URL('./bashrc', import.meta.url))

// Runs before the command, for what Node can't do between fork and exec. It closes inherited files because terminals
// are opened without close-on-exec: any later process could type into them. It resets the service's strict umask and
// makes devboxes the first to be killed when the host runs out of memory.
const wrap = `for fd in /proc/self/fd/*; do fd=\${fd##*/}; ((fd < $1)) || eval "exec $fd>&-"; done
umask 022
for join in "\${@:4:$2}"; do echo 0 >"$join" || exit 126; done
for limit in "\${@:4+$2:$3}"; do ulimit $limit; done 2>/dev/null
echo 500 2>/dev/null >/proc/self/oom_score_adj
shift $((3 + $2 + $3)); unset fd join limit; exec "$@"`

export const takeTerminal = 'exec <>"$1" >&0 2>&0; shift;'

/** Applies limits and closes all file descriptors from `openFiles` on. */
const wrapped = (launch: Launch, openFiles: number): Launch => {
  const { file, args, cgroupFiles = [], ulimits = [], env } = launch
  if (launch.appliesLimits)
    return { ...launch, env: { ...env, DEVDECK_LAUNCH: [openFiles, ...cgroupFiles, ...ulimits].join('\n') } }
  const counts = [openFiles, cgroupFiles.length, ulimits.length].map(String)
  // -p ignores BASH_ENV and functions from the environment, which a plain-process devbox controls. --norc because bash
  // runs ~/.bashrc when stdin is a socket, as Node's stdin is.
  const shell = ['--norc', '-p', '-c', wrap, 'devbox', ...counts, ...cgroupFiles, ...ulimits]
  return { ...launch, file: '/bin/bash', args: [...shell, file, ...args] }
}

/** Environment of every devbox process. Never includes the service's own, which holds API keys. */
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

export const isRootFolder = (name: string): boolean =>
  /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(name) && !systemFolders.includes(name)

const systemFolders = [
  ...['bin', 'boot', 'dev', 'etc', 'home', 'lib', 'lib32', 'lib64', 'libx32', 'proc', 'run', 'sbin', 'sys'],
  ...['tmp', 'usr', 'var'],
]

export const userOf = ({ user, system }: Pick<SandboxSpec, 'user' | 'system'>): User =>
  user ?? (system ? { uid: 0, name: 'root' } : { uid: 1000, name: 'user' })

/** Environment variables that identify a devbox's processes. */
export const markers = ({ serviceId, devboxId }: Pick<SandboxSpec, 'serviceId' | 'devboxId'>) => ({
  DEVDECK_SERVICE_ID: serviceId,
  DEVDECK_DEVBOX_ID: devboxId,
})
