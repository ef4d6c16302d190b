import { setTimeout as delay } from 'node:timers/promises'
import { quote } from '#lib/service/kit/quoting.ts'
import { TrialError } from '../outcome.ts'
import { type Finished, shown, type Workbench } from '../workbench.ts'
import type { BuildPlan } from './build/plan.ts'
import type { Healthcheck } from './task-toml.ts'

interface Surroundings {
  cwd: string
  env: Record<string, string>
  signal: AbortSignal
}

/**
 * Starts what an image starts by itself. Harbor runs `docker compose up --wait` with the command `sh -c "sleep infinity"`:
 * CMD is replaced, ENTRYPOINT is run with that command as its arguments, and the agent begins once the HEALTHCHECK of the
 * image has succeeded. Throws where such a container would not have started.
 */
export const startContainer = async (
  workbench: Workbench,
  plan: Pick<BuildPlan, 'entrypoint' | 'healthcheck'> | undefined,
  { cwd, env, signal }: Surroundings,
): Promise<void> => {
  if (plan?.entrypoint) await runEntrypoint(workbench, plan.entrypoint, { cwd, env, signal })
  if (plan?.healthcheck) await waitUntilHealthy(workbench, plan.healthcheck, { cwd, env, signal })
  else if (plan?.entrypoint) await delay(settlingMs, undefined, { signal })
}

/**
 * Unspecified: when an agent begins beside what an entrypoint has left to serve in the background. Docker and Harbor take
 * longer than this between the two, so images are written without a wait of their own.
 */
const settlingMs = 1_000

/**
 * Resolves when the entrypoint has come to its arguments. One that never does is taken to serve by itself: the agent
 * begins beside it, as it would in Docker, where nothing waits for it but a healthcheck.
 */
const runEntrypoint = async (workbench: Workbench, argv: string[], { cwd, env, signal }: Surroundings) =>
  workbench.lend('entrypoint', '', async (file) => {
    await workbench.must('chmod 711 -- "$(dirname -- "$FILE")" && chmod 666 -- "$FILE"', { FILE: file }, signal)
    const command = ['sh', '-c', `echo >${quote(file)} 2>/dev/null; sleep infinity`]
    const over = new AbortController()
    const script = `exec ${[...argv, ...command].map(quote).join(' ')}`
    let ended: Finished | undefined
    void workbench.begin(script, { env, cwd, signal }).then(
      (finished) => {
        ended = finished
        over.abort()
      },
      // The devbox has ended, which the next command tells.
      () => undefined,
    )
    const late = new Error('The entrypoint has not come to its arguments')
    const limit = { seconds: entrypointSeconds, error: () => late }
    const reached = 'until [ -s "$FILE" ]; do sleep 0.05; done'
    await workbench
      .run(reached, {
        env: { FILE: file },
        cwd: '/',
        user: null,
        limit,
        signal: AbortSignal.any([signal, over.signal]),
      })
      .catch((error: unknown) => {
        signal.throwIfAborted()
        if (error !== late && !over.signal.aborted) throw error
      })
    if (ended) {
      const said = [`ENTRYPOINT ended with exit code ${ended.exitStatus}`, shown(ended)].filter(Boolean).join(': ')
      throw new TrialError('RuntimeError', `The environment did not start: ${said}`)
    }
  })

/** Unspecified: how long an agent waits for an entrypoint. About as long as Harbor takes for its first command. */
const entrypointSeconds = 5

/** Resolves once the command of a healthcheck has succeeded. Throws a HealthcheckError when it never does. */
export const waitUntilHealthy = async (
  workbench: Workbench,
  check: Healthcheck,
  { cwd, env, signal }: Surroundings,
): Promise<void> => {
  const beganMs = Date.now()
  const late = new TrialError('HealthcheckError', `The healthcheck took more than ${check.timeout_sec} seconds`)
  const limit = { seconds: check.timeout_sec, error: () => late }
  for (let failures = 0; ; ) {
    const reason = await workbench.run(check.command, { env, cwd, signal, limit }).then(
      (finished) =>
        finished.exitStatus !== 0 && [`exit code ${finished.exitStatus}`, shown(finished)].filter(Boolean).join(': '),
      (error: unknown) => {
        if (error !== late) throw error
        return late.message
      },
    )
    if (reason === false) return
    // A failure while it is still starting does not count.
    const isStarting = Date.now() - beganMs < check.start_period_sec * 1000
    if (!isStarting && ++failures >= check.retries)
      throw new TrialError('HealthcheckError', `The healthcheck failed ${failures} times: ${reason}`)
    await delay((isStarting ? check.start_interval_sec : check.interval_sec) * 1000, undefined, { signal })
  }
}
