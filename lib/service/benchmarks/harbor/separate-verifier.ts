import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Warning } from '../outcome.ts'
import { networkModeOf, type TaskEnvironment, taskEnvironmentOf } from './task-environment.ts'
import type { TaskToml } from './task-toml.ts'

export interface SeparateVerifier {
  environment: TaskEnvironment
  /** False if the image of the verifier has the tests. */
  getsTests: boolean
  artifacts: { source: string; exclude: string[] }[]
  /** Run in the agent's environment before copying; as the image's user by default. */
  collects: { command: string; timeoutSeconds: number; user: string | null }[]
  warnings: Warning[]
}

type VerifierToml = NonNullable<TaskToml['verifier']>
export type StepToml = Partial<NonNullable<TaskToml['steps']>[number]>

/** Steps inherit the mode of the task. */
export const isSeparate = ({ verifier: whole }: TaskToml, { verifier }: StepToml): boolean => {
  const answer = (each: VerifierToml | undefined) =>
    each?.environment_mode === undefined ? each?.environment && true : each.environment_mode === 'separate'
  return answer(verifier) ?? answer(whole) ?? false
}

/**
 * Resolves the environment of a separate verifier as Harbor does: `[verifier.environment]`, or a copy of the task's,
 * built from the Dockerfile beside the tests. Null if the verifier is not separate.
 */
export const separateVerifierOf = (
  toml: TaskToml,
  step: StepToml,
  {
    testsFolder,
    environmentFolder,
    forceBuild,
  }: {
    testsFolder: string
    environmentFolder: string
    forceBuild: boolean
  },
): SeparateVerifier | null => {
  if (!isSeparate(toml, step)) return null
  const { verifier, artifacts = [] } = step
  const whole = toml.verifier
  const given = verifier?.environment ?? whole?.environment
  const isBuilt = existsSync(join(testsFolder, 'Dockerfile'))
  const hasOwnImage = isBuilt || given?.docker_image !== undefined
  const mode = verifier?.network_mode ?? whole?.network_mode ?? networkModeOf(given ?? toml.environment)
  const copied = [...(toml.artifacts ?? []), ...artifacts].map((each) =>
    typeof each === 'string' ? { source: each, exclude: [] } : { source: each.source, exclude: each.exclude ?? [] },
  )
  const warnings: [unknown, string][] = [
    [
      !hasOwnImage && (given || toml.environment?.docker_image === undefined),
      'The separate verifier has neither a Dockerfile beside its tests nor a docker_image, which Harbor asks for: it runs in a copy of the environment of the task',
    ],
    [
      hasOwnImage && !isBuilt,
      `The tests are put into the separate verifier: Harbor finds them in its image ${given?.docker_image}`,
    ],
    [mode === 'allowlist', 'network_mode allowlist is not supported: the separate verifier has no network'],
  ]
  return {
    environment: taskEnvironmentOf(
      { ...(given ?? toml.environment), docker_image: (hasOwnImage ? given : toml.environment)?.docker_image },
      {
        folder: hasOwnImage ? testsFolder : environmentFolder,
        network: mode === 'public' ? 'host' : 'none',
        forceBuild,
      },
    ),
    getsTests: !isBuilt,
    artifacts: [{ source: '/logs/artifacts', exclude: [] }, ...copied],
    collects: [...(whole?.collect ?? []), ...(verifier?.collect ?? [])].map(({ command, timeout_sec, user }) => ({
      command,
      timeoutSeconds: timeout_sec ?? defaultCollectSeconds,
      user: user === undefined ? null : String(user),
    })),
    warnings: warnings.flatMap(([applies, sentence]) => (applies ? [{ sentence, differs: true }] : [])),
  }
}

const defaultCollectSeconds = 60

/** The step's own tests, or the task's. */
export const testsFolderOf = (path: string, folder: string): string =>
  [join(folder, 'tests'), join(path, 'tests')].find((each) => existsSync(each)) ?? join(path, 'tests')
