import type { StringMap } from '#lib/contract/common.ts'
import { TrialError } from '../outcome.ts'
import type { Environment } from '../plan.ts'

/** The secret that `${NAME}` or `${NAME:-fallback}` asks for; undefined for any other text, also one that contains such. */
export const secretOf = (value: string): { name: string; fallback?: string } | undefined => {
  const [, name, , fallback] = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([\s\S]*))?\}$/.exec(value) ?? []
  if (name === undefined) return undefined
  return fallback === undefined ? { name } : { name, fallback }
}

/** The values of secrets, by the variables that take them. */
export type Reveal = (secrets: StringMap) => StringMap

/**
 * The values of a task's variables. Harbor takes them from the machine it runs on; here they are the account's secrets,
 * never the service's own environment. Throws when one is not there.
 */
export const resolve = (env: StringMap, reveal: Reveal): StringMap =>
  Object.fromEntries(
    Object.entries(env).map(([variable, value]) => {
      const secret = secretOf(value)
      if (!secret) return [variable, value]
      const found = reveal({ [variable]: secret.name })[variable] ?? secret.fallback
      if (found === undefined) throw missing(secret.name)
      return [variable, found]
    }),
  )

/** The values of a job's variables. Throws when a secret has been deleted since the job was made. */
export const environmentOf = ({ variables, secrets }: Environment, reveal: Reveal): StringMap => {
  const revealed = reveal(secrets)
  for (const [variable, name] of Object.entries(secrets)) if (!Object.hasOwn(revealed, variable)) throw missing(name)
  return { ...variables, ...revealed }
}

const missing = (name: string) =>
  new TrialError('ValueError', `Environment variable ${name} is not set: the account has no secret of that name`)
