import { setTimeout as delay } from 'node:timers/promises'
import type { BuildPlan, BuildStep } from './build.ts'
import { findSources } from './context.ts'
import { SandboxBuildFailedError } from './dockerfile.ts'
import { HarborError } from './rewards.ts'
import type { Healthcheck } from './task-toml.ts'
import type { Workshop } from './workshop.ts'

/** Does in a devbox what a Dockerfile says. Throws a SandboxBuildFailedError that names the line. */
export const buildSandbox = async (workshop: Workshop, plan: BuildPlan, context: string, signal: AbortSignal) => {
  for (const step of plan.steps) {
    try {
      await doStep(workshop, step, context, signal)
    } catch (error) {
      signal.throwIfAborted()
      const { message } = error as Error
      throw new SandboxBuildFailedError(
        message.startsWith('Dockerfile') ? message : `Dockerfile line ${step.line}: ${message}`,
      )
    }
  }
}

const doStep = async (workshop: Workshop, step: BuildStep, context: string, signal: AbortSignal): Promise<void> => {
  switch (step.kind) {
    case 'workdir':
      return workshop.must('mkdir -p -- "$FOLDER"', { FOLDER: step.path }, signal)
    case 'run': {
      const script = step.argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
      const env = { HOME: '/root', ...step.env }
      const { status, output } = await workshop.run(`exec ${script}`, { env, cwd: step.cwd, signal })
      if (status !== 0) throw new SandboxBuildFailedError(`RUN ${step.said} ended with exit code ${status}: ${output}`)
      return
    }
    case 'write':
      await workshop.write(step.to, step.content)
      if (step.mode) await workshop.must('chmod -- "$MODE" "$FILE"', { MODE: step.mode, FILE: step.to }, signal)
      return
    case 'copy':
      return copy(workshop, step, context, signal)
  }
}

const copy = async (
  workshop: Workshop,
  { sources, to, isFolder, mode, extracts }: Extract<BuildStep, { kind: 'copy' }>,
  context: string,
  signal: AbortSignal,
): Promise<void> => {
  const found = await findSources(context, sources)
  for (const source of found) {
    if (source.isFolder) await workshop.send(source.path, to, mode, signal)
    else if (extracts && /\.(tar|tgz|tbz2|txz|tar\.(gz|bz2|xz|zst))$/.test(source.name)) {
      const file = `/tmp/${source.name}`
      await workshop.sendFile(source.path, { to: file, name: source.name, isFolder: false, mode }, signal)
      const script = 'mkdir -p -- "$FOLDER" && tar -x --no-same-owner -f "$FILE" -C "$FOLDER" && rm -f -- "$FILE"'
      await workshop.must(script, { FOLDER: to, FILE: file }, signal)
    } else {
      const isInto = isFolder || found.length > 1
      await workshop.sendFile(source.path, { to, name: source.name, isFolder: isInto, mode }, signal)
    }
  }
}

/** Resolves once the command of a healthcheck has succeeded. Throws a HealthcheckError when it never does. */
export const waitUntilHealthy = async (
  workshop: Workshop,
  check: Healthcheck,
  cwd: string,
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<void> => {
  const beganMs = Date.now()
  let failures = 0
  for (;;) {
    const error = new HarborError('HealthcheckError', `The healthcheck took more than ${check.timeout_sec} seconds`)
    const limit = { seconds: check.timeout_sec, error }
    const reason = await workshop.run(check.command, { env, cwd, signal, limit }).then(
      ({ status, output }) => (status === 0 ? undefined : `exit code ${status}${output && `: ${output}`}`),
      (problem: unknown) => {
        if (problem !== error) throw problem
        return error.message
      },
    )
    if (reason === undefined) return
    // What fails while it is still starting does not count.
    const isStarting = Date.now() - beganMs < check.start_period_sec * 1000
    if (!isStarting && ++failures >= check.retries)
      throw new HarborError('HealthcheckError', `The healthcheck failed ${failures} times: ${reason}`)
    await delay((isStarting ? check.start_interval_sec : check.interval_sec) * 1000, undefined, { signal })
  }
}
