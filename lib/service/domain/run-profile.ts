import type { StringMap } from '#lib/contract/common.ts'
import type { LaunchParameters } from '#lib/contract/launch-parameters.ts'
import type { RunProfile } from '#lib/contract/scenario-runs.ts'
import { invalid } from '#lib/service/kit/errors.ts'

/** One profile over another, as that of a scenario run lies over that of its benchmark run. */
export const mergeProfiles = (under: RunProfile, over: RunProfile): RunProfile => ({
  envVars: { ...under.envVars, ...over.envVars },
  secrets: { ...under.secrets, ...over.secrets },
  purpose: over.purpose ?? under.purpose ?? null,
  launchParameters: mergeLaunchParameters(under.launchParameters ?? {}, over.launchParameters ?? {}),
  mounts: [...(under.mounts ?? []), ...(over.mounts ?? [])],
})

/** Unspecified: launch commands of both. Those that lie under come first: the others may need what they set up. */
export const mergeLaunchParameters = (under: LaunchParameters, over: LaunchParameters): LaunchParameters => {
  const given = Object.fromEntries(Object.entries(over).filter(([, value]) => value !== null && value !== undefined))
  const commands = [...(under.launch_commands ?? []), ...(over.launch_commands ?? [])]
  return { ...under, ...given, ...(commands.length > 0 && { launch_commands: commands }) }
}

interface Needs {
  required_environment_variables?: readonly string[] | null | undefined
  required_secret_names?: readonly string[] | null | undefined
}

/**
 * What a benchmark or a scenario needs and a run is not given, one sentence each. Unspecified: what a required secret
 * names; here the environment variable it is put in, or the secret itself.
 */
export const unmetNeeds = (needs: Needs, { envVars, secrets }: RunProfile): { field: string; message: string }[] => {
  const variables: StringMap = { ...envVars, ...secrets }
  const provided = new Set([...Object.keys(secrets ?? {}), ...Object.values(secrets ?? {})])
  return [
    ...(needs.required_environment_variables ?? [])
      .filter((name) => !Object.hasOwn(variables, name))
      .map((name) => ({ field: 'runProfile.envVars', message: `needs a value for ${name}` })),
    ...(needs.required_secret_names ?? [])
      .filter((name) => !provided.has(name))
      .map((name) => ({ field: 'runProfile.secrets', message: `needs the secret ${name}` })),
  ]
}

interface Secrets {
  /** Those of the names that are no secret of the account. */
  missing(account: string, names: readonly string[]): string[]
}

/** Throws one 400 with all that a run needs and is not given, and with the secrets of its profile that do not exist. */
export const requireNeedsMet = (secrets: Secrets, account: string, needs: Needs, profile: RunProfile): void => {
  const missing = secrets.missing(account, [...new Set(Object.values(profile.secrets ?? {}))])
  const problems = [
    ...unmetNeeds(needs, profile),
    ...missing.map((name) => ({ field: 'runProfile.secrets', message: `there is no secret ${name}` })),
  ]
  if (problems.length > 0) throw invalid(...problems)
}
