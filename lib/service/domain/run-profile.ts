import type { StringMap } from '#lib/contract/common.ts'
import type { LaunchParameters } from '#lib/contract/launch-parameters.ts'
import type { RunProfile } from '#lib/contract/scenario-runs.ts'
import { invalid } from '#lib/service/kit/errors.ts'

/** `override` takes precedence, as a scenario run does over its benchmark run. */
export const mergeProfiles = (base: RunProfile, override: RunProfile): RunProfile => ({
  envVars: { ...base.envVars, ...override.envVars },
  secrets: { ...base.secrets, ...override.secrets },
  purpose: override.purpose ?? base.purpose ?? null,
  launchParameters: mergeLaunchParameters(base.launchParameters ?? {}, override.launchParameters ?? {}),
  mounts: [...(base.mounts ?? []), ...(override.mounts ?? [])],
})

/** Unspecified: the launch commands of `base` run first because those of `override` may depend on them. */
export const mergeLaunchParameters = (base: LaunchParameters, override: LaunchParameters): LaunchParameters => {
  const given = Object.fromEntries(
    Object.entries(override).filter(([, value]) => value !== null && value !== undefined),
  )
  const commands = [...(base.launch_commands ?? []), ...(override.launch_commands ?? [])]
  return { ...base, ...given, ...(commands.length > 0 && { launch_commands: commands }) }
}

interface Needs {
  required_environment_variables?: readonly string[] | null | undefined
  required_secret_names?: readonly string[] | null | undefined
}

/** Unspecified: a required secret name may be that of a secret or of its environment variable. */
export const unmetNeeds = (needs: Needs, { envVars, secrets }: RunProfile): { field: string; message: string }[] => {
  const variables: StringMap = { ...envVars, ...secrets }
  const provided = new Set([...Object.keys(secrets ?? {}), ...Object.values(secrets ?? {})])
  return [
    ...(needs.required_environment_variables ?? [])
      .filter((name) => !Object.hasOwn(variables, name))
      .map((name) => ({ field: 'runProfile.envVars', message: `must include ${name}` })),
    ...(needs.required_secret_names ?? [])
      .filter((name) => !provided.has(name))
      .map((name) => ({ field: 'runProfile.secrets', message: `must include secret ${name}` })),
  ]
}

interface Secrets {
  missing(account: string, names: readonly string[]): string[]
}

export const requireNeeds = (secrets: Secrets, account: string, needs: Needs, profile: RunProfile): void => {
  const missing = secrets.missing(account, [...new Set(Object.values(profile.secrets ?? {}))])
  const problems = [
    ...unmetNeeds(needs, profile),
    ...missing.map((name) => ({ field: 'runProfile.secrets', message: `secret ${name} does not exist` })),
  ]
  if (problems.length > 0) throw invalid(...problems)
}
