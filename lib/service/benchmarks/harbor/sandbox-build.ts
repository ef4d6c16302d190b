import { setTimeout as delay } from 'node:timers/promises'
import { quote } from '../workplace.ts'
import type { BuildPlan, BuildStep } from './build.ts'
import { putBuildPrograms, skippedFile, withBuildPrograms } from './build-programs.ts'
import { findSources } from './context.ts'
import { SandboxBuildFailedError } from './dockerfile.ts'
import { HarborError } from './rewards.ts'
import type { Healthcheck } from './task-toml.ts'
import type { Workshop } from './workshop.ts'

interface Build {
  /** Where the files are that a COPY names. */
  context: string
  signal: AbortSignal
  /** Told, at the end, what was skipped of each RUN. */
  warn: (sentence: string) => void
}

/** Does in a devbox what a Dockerfile says. Throws a SandboxBuildFailedError that names the line. */
export const buildSandbox = async (workshop: Workshop, plan: BuildPlan, { context, signal, warn }: Build) => {
  const programs = `${workshop.runFolder}/build`
  const hasRun = plan.steps.some(({ kind }) => kind === 'run')
  if (hasRun) {
    const { script, env } = putBuildPrograms(programs)
    await workshop.must(script, env, signal)
  }
  try {
    for (const step of plan.steps) await doStep(workshop, step, { context, signal, programs })
  } finally {
    if (hasRun) await tellSkipped(workshop, programs, warn)
  }
}

const tellSkipped = async (workshop: Workshop, programs: string, warn: (sentence: string) => void) => {
  try {
    const skipped = (await workshop.read(skippedFile(programs))) ?? ''
    await workshop.must('rm -rf -- "$FOLDER"', { FOLDER: programs })
    for (const sentence of skipped.split('\n')) if (sentence !== '') warn(sentence)
  } catch (error) {
    // The devbox has ended: of that the build fails, or what comes after it.
    warn(`What was skipped is not known: ${(error as Error).message}`)
  }
}

interface Surroundings {
  context: string
  signal: AbortSignal
  programs: string
}

const doStep = async (workshop: Workshop, step: BuildStep, surroundings: Surroundings): Promise<void> => {
  const { context, signal, programs } = surroundings
  try {
    switch (step.kind) {
      case 'workdir':
        return await workshop.must('mkdir -p -- "$FOLDER"', { FOLDER: step.path }, signal)
      case 'run': {
        const env = withBuildPrograms(programs, step.line, { HOME: '/root', ...step.env })
        const { status, output } = await workshop.run(`exec ${step.argv.map(quote).join(' ')}`, {
          env,
          cwd: step.cwd,
          signal,
        })
        if (status !== 0) throw new Error(`RUN ${step.said} ended with exit code ${status}: ${output}`)
        return
      }
      case 'write':
        await workshop.write(step.to, step.content)
        if (step.mode) await workshop.must('chmod -- "$MODE" "$FILE"', { MODE: step.mode, FILE: step.to }, signal)
        return
      case 'copy':
        return await copy(workshop, step, context, signal)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw new SandboxBuildFailedError(`Dockerfile line ${step.line}: ${(error as Error).message}`)
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
