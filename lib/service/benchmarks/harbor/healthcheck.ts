import { setTimeout as delay } from 'node:timers/promises'
import { TrialError } from '../outcome.ts'
import { outputTail, type Workbench } from '../workbench.ts'
import type { Healthcheck } from './task-toml.ts'

export const waitUntilHealthy = async (
  workbench: Workbench,
  check: Healthcheck,
  { cwd, env, signal }: { cwd: string; env: Record<string, string>; signal: AbortSignal },
): Promise<void> => {
  const startedMs = Date.now()
  const timeout = new TrialError('HealthcheckError', `The healthcheck took more than ${check.timeout_sec} seconds`)
  const limit = { seconds: check.timeout_sec, error: () => timeout }
  for (let failures = 0; ; ) {
    const failure = await workbench.run(check.command, { env, cwd, signal, limit }).then(
      (finished) =>
        finished.exitStatus === 0
          ? undefined
          : [`exit code ${finished.exitStatus}`, outputTail(finished)].filter(Boolean).join(': '),
      (error: unknown) => {
        if (error !== timeout) throw error
        return timeout.message
      },
    )
    if (failure === undefined) return
    // Failures during the start period do not count.
    const isStarting = Date.now() - startedMs < check.start_period_sec * 1000
    if (!isStarting && ++failures >= check.retries)
      throw new TrialError('HealthcheckError', `The healthcheck failed ${failures} times: ${failure}`)
    await delay((isStarting ? check.start_interval_sec : check.interval_sec) * 1000, undefined, { signal })
  }
}
