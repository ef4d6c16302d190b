import { devboxEnvironment, markers } from '../environment.ts'
import { type Enforcement, enforceLimits } from '../limits.ts'
import { killProcesses } from '../local/kill-processes.ts'
import { bashrc, type Launch, type LocalSpec, takeTerminal, userOf } from '../local/launch.ts'
import { createLocalBox, type LocalBox } from '../local/local-box.ts'
import { createLocalEngine } from '../local/local-engine.ts'
import { connectToLoopback } from '../network/loopback.ts'

export const createPlainProcess = createLocalEngine({
  isolation: 'none',
  description: "Not isolated: processes run as the service's user",
  startBox: (spec, report) => startPlainProcess(spec, report),
})

export const startPlainProcess = async (spec: LocalSpec, report?: (sentence: string) => void): Promise<LocalBox> =>
  runningBox(spec, await enforceLimits(spec, 'none', report ?? (() => undefined)))

const runningBox = (spec: LocalSpec, enforcement: Enforcement): LocalBox => {
  const { promise: ended, resolve } = Promise.withResolvers<undefined>()
  return createLocalBox(spec, {
    home: spec.home,
    tmp: spec.tmp,
    run: spec.run,
    bashrc,
    ended,
    launch: ({ argv, env, tty }) => ({
      ...enforcement.launch,
      ...program(argv, tty),
      env: { ...devboxEnvironment(spec, spec, userOf(spec).name), ...env, ...markers(spec) },
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
      resolve(undefined)
    },
  })
}

const program = (argv: readonly string[], tty: string | undefined): Pick<Launch, 'file' | 'args'> => {
  const [file = '', ...args] =
    tty === undefined ? argv : ['/bin/bash', '-p', '-c', `${takeTerminal} exec "$@"`, 'devbox', tty, ...argv]
  return { file, args }
}
