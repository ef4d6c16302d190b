import type { StringMap } from '#lib/contract/common.ts'
import { TrialError } from '../outcome.ts'
import type { Environment } from '../plan.ts'

/** Parses `${NAME}` and `${NAME:-fallback}`; undefined for any other text. */
export const secretOf = (value: string): { name: string; fallback?: string } | undefined => {
  const [, name, , fallback] = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([\s\S]*))?\}$/.exec(value) ?? []
  if (name === undefined) return undefined
  return fallback === undefined ? { name } : { name, fallback }
}

export type Reveal = (secrets: StringMap) => StringMap

/** Resolves the variables of a task. Harbor uses its machine's environment; here they are the account's secrets. */
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

/** Resolves the variables of a job. Throws if a secret was deleted since the job was created. */
export const environmentOf = ({ variables, secrets }: Environment, reveal: Reveal): StringMap => {
  const revealed = reveal(secrets)
  for (const [variable, name] of Object.entries(secrets)) if (!Object.hasOwn(revealed, variable)) throw missing(name)
  return { ...variables, ...revealed }
}

const missing = (name: string) =>
  new TrialError('ValueError', `Environment variable ${name} is not set: the account has no secret with that name`)
