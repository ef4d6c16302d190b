import { removeGroupOf, removeGroupsOf } from '../cgroup.ts'
import {
  baseEnvironment,
  bashrc,
  type Engine,
  type Launch,
  markers,
  type Sandbox,
  type SandboxSpec,
  takeTerminal,
} from '../engine.ts'
import { type Enforcement, enforceLimits } from '../limits.ts'
import { connectToLoopback } from '../network/loopback.ts'
import { findProcesses, signal, waitUntil } from '../processes.ts'

export const plainProcess: Engine = {
  isolation: 'none',
  start: async (spec, report = () => undefined) => runningSandbox(spec, await enforceLimits(spec, 'none', report)),
}

const runningSandbox = (spec: SandboxSpec, enforcement: Enforcement): Sandbox => {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  return {
    home: spec.home,
    tmp: spec.tmp,
    run: spec.run,
    bashrc,
    ended,
    launch: ({ argv, env, tty }) => ({
      ...enforcement.launch,
      ...program(argv, tty),
      env: { ...baseEnvironment(spec, spec), ...env, ...markers(spec) },
      cwd: spec.home,
    }),
    leader: (spawnedPid) => spawnedPid,
    notEnforced: [
      'Files, processes and network of the host are accessible',
      ...(spec.user ? ["User: processes run as the service's user"] : []),
      ...(spec.network === 'public' ? [] : ["Network: not restricted; the host's network is used"]),
      ...enforcement.notEnforced,
    ],
    outOfMemoryKills: enforcement.outOfMemoryKills,
    connect: connectToLoopback,
    async stop() {
      await enforcement.end()
      await killProcesses(markers(spec))
      resolve()
    },
  }
}

const program = (argv: readonly string[], tty: string | undefined): Pick<Launch, 'file' | 'args'> => {
  const [file = '', ...args] =
    tty === undefined ? argv : ['/bin/bash', '-p', '-c', `${takeTerminal} exec "$@"`, 'devbox', tty, ...argv]
  return { file, args }
}

/** Kills processes found by cgroup, environment, session and descent; without cgroups, one that changes all escapes. */
export const killProcesses = async (marked: Marks): Promise<void> => {
  const { DEVDECK_SERVICE_ID: serviceId, DEVDECK_DEVBOX_ID: devboxId } = marked
  await (devboxId === undefined ? removeGroupsOf(serviceId) : removeGroupOf({ serviceId, devboxId }))
  await waitUntil(() => {
    const found = findProcesses({ ...marked })
    for (const pid of found) signal(pid, 'SIGKILL')
    return found.length === 0
  })
}

type Marks = Pick<ReturnType<typeof markers>, 'DEVDECK_SERVICE_ID'> & Partial<ReturnType<typeof markers>>
