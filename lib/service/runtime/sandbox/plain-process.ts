import { findProcesses, signal, waitUntil } from '#lib/service/runtime/processes.ts'
import { type Box, baseEnvironment, connectLocally, defaultUmask, markers, type Sandbox, type Site } from './sandbox.ts'

/** No isolation: processes of the service's own user, with a home directory of their own. */
export const plainProcess: Sandbox = {
  isolation: 'none',
  start: async (site) => runningBox(site),
}

const runningBox = (site: Site): Box => {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  return {
    home: site.home,
    tmp: site.tmp,
    run: site.run,
    ended,
    launch: ({ argv, env }) => ({
      file: '/bin/bash',
      args: ['-c', `${defaultUmask}; exec "$@"`, 'devbox', ...argv],
      env: { ...baseEnvironment(site, site), ...env, ...markers(site) },
      cwd: site.home,
    }),
    leader: (spawnedPid) => spawnedPid,
    notEnforced: [],
    outOfMemoryKills: () => 0,
    connect: connectLocally,
    async stop() {
      await endProcesses(markers(site))
      resolve()
    },
  }
}

/**
 * Kills every process that carries the markers in its environment, with its session and its descendants, until none
 * is left. One that took on a new environment and left both is not found: nothing but a namespace holds such a one.
 */
export const endProcesses = async (marked: Record<string, string>): Promise<void> => {
  await waitUntil(() => {
    const found = findProcesses(marked)
    for (const pid of found) signal(pid, 'SIGKILL')
    return found.length === 0
  })
}
