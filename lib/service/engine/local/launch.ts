import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { spawnProcess } from '#lib/service/kit/spawn.ts'
import type { BoxSpec, Command, Isolation, System, User } from '../box.ts'

export type LocalIsolation = Exclude<Isolation, 'container' | 'swarm'>

/** A devbox on this host. `home`, `tmp`, `run` and `root` are host folders. */
export interface LocalSpec extends Omit<BoxSpec, 'folder' | 'hasRun' | 'origin' | 'signal' | 'privateNetwork'> {
  home: string
  tmp: string
  /** Folder for files of this start; empty at first. */
  run: string
  /** Its folders appear at `/`. Without it `/` is read-only. */
  root?: string
  /** Replaces `home` and `tmp`. */
  system?: System
  privateNetwork?: boolean
}

export interface LocalCommand extends Pick<Command, 'argv' | 'env'> {
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

/** Throws if the process can't start. The cast satisfies Next's types, which require NODE_ENV. */
export const spawnIn = (
  launch: Launch,
  options: SpawnOptions & { stdio: ('pipe' | 'ignore' | 'ipc' | number)[] },
): ChildProcess => {
  const { file, args, cwd, env } = wrapped(launch, options.stdio.length)
  return spawnProcess(file, args, { ...options, cwd, env: env as NodeJS.ProcessEnv & typeof env })
}

export const bashrc = fileURLToPath(new URL('../bashrc', import.meta.url))

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

export const userOf = ({ user, system }: Pick<LocalSpec, 'user' | 'system'>): User =>
  user ?? (system && !system.hasHome ? { uid: 0, name: 'root' } : { uid: 1000, name: 'user' })
