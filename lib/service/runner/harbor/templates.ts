import type { StringMap } from '#lib/contract/common.ts'

/** What `${NAME}` or `${NAME:-fallback}` asks for; undefined for any other text. A template is the whole value or none. */
export const secretOf = (value: string): { name: string; fallback?: string } | undefined => {
  const [, name, , fallback] = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([\s\S]*))?\}$/.exec(value) ?? []
  if (name === undefined) return undefined
  return fallback === undefined ? { name } : { name, fallback }
}

/**
 * The values of a task's variables. Harbor takes them from the machine it runs on; here they are the account's secrets,
 * never the service's own environment. Throws when one is not there.
 */
export const resolve = (env: StringMap, reveal: (name: string) => string | undefined): StringMap =>
  Object.fromEntries(
    Object.entries(env).map(([variable, value]) => {
      const secret = secretOf(value)
      if (!secret) return [variable, value]
      const found = reveal(secret.name) ?? secret.fallback
      if (found === undefined)
        throw new Error(`Environment variable ${secret.name} not found: the account has no such secret`)
      return [variable, found]
    }),
  )
