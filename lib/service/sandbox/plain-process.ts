import { removeGroupOf, removeGroupsOf } from './cgroup.ts'
import { type Enforcement, enforceLimits } from './limits.ts'
import { connectToLoopback } from './loopback.ts'
import { findProcessesSoon, signal, waitUntil } from './processes.ts'
import {
  type Box,
  baseEnvironment,
  bashrc,
  type Launch,
  markers,
  type Sandbox,
  type Site,
  takeTerminal,
} from './sandbox.ts'

/** No isolation: processes of the service's own user, with a home directory of their own. */
export const plainProcess: Sandbox = {
  isolation: 'none',
  start: async (site, tell = () => undefined) => runningBox(site, await enforceLimits(site, 'none', tell)),
}

const runningBox = (site: Site, enforcement: Enforcement): Box => {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  return {
    home: site.home,
    tmp: site.tmp,
    run: site.run,
    bashrc,
    ended,
    launch: ({ argv, env, tty }) => ({
      ...enforcement.launch,
      ...program(argv, tty),
      env: { ...baseEnvironment(site, site), ...env, ...markers(site) },
      cwd: site.home,
    }),
    leader: (spawnedPid) => spawnedPid,
    notEnforced: [
      'Files, processes and network of this machine are within reach',
      ...(site.user ? ['User: that of the service, whoever was asked for'] : []),
      ...(site.network === 'public' ? [] : ['Network: none or some asked for, that of this machine is used']),
      ...enforcement.notEnforced,
    ],
    outOfMemoryKills: enforcement.outOfMemoryKills,
    connect: connectToLoopback,
    async stop() {
      await enforcement.end()
      await endProcesses(markers(site))
      resolve()
    },
  }
}

const program = (argv: readonly string[], tty: string | undefined): Pick<Launch, 'file' | 'args'> => {
  const [file = '', ...args] =
    tty === undefined ? argv : ['/bin/bash', '-p', '-c', `${takeTerminal} exec "$@"`, 'devbox', tty, ...argv]
  return { file, args }
}

/**
 * Kills every process in the cgroups of a service, or of one devbox of it, and every process that carries the markers
 * in its environment, with its session and its descendants, until none is left. Where no cgroup is to be had, one that
 * took on a new environment and left both is not found: nothing else but a namespace holds such a one.
 */
export const endProcesses = async (marked: Marks): Promise<void> => {
  const { DEVDECK_SERVICE_ID: serviceId, DEVDECK_DEVBOX_ID: devboxId } = marked
  await (devboxId === undefined ? removeGroupsOf(serviceId) : removeGroupOf({ serviceId, devboxId }))
  await waitUntil(async () => {
    const found = await findProcessesSoon({ ...marked })
    for (const pid of found) signal(pid, 'SIGKILL')
    return found.length === 0
  })
}

/** Those of a devbox, or of all devboxes of a service. */
type Marks = Pick<ReturnType<typeof markers>, 'DEVDECK_SERVICE_ID'> & Partial<ReturnType<typeof markers>>
