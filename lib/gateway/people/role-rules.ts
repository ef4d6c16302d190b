import * as z from 'zod/mini'
import { hasRole, type Role, roles } from '#lib/protocol/roles.ts'
import { readText } from '../read-text.ts'

const RoleRules = z.strictObject({
  /** Claim with the groups; a dot separates nested names, as in `realm_access.roles`. */
  claim: z.string().check(z.minLength(1)),
  /** Role of people without a matching group. Null denies access. */
  default: z.nullable(z.enum(roles)),
  rules: z.array(
    z.strictObject({
      group: z.string().check(z.minLength(1)),
      role: z.enum(roles),
      /** Id of the only account in which the rule applies. */
      account: z.optional(z.string().check(z.minLength(1))),
    }),
  ),
})
export type RoleRules = z.infer<typeof RoleRules>

const shape = '{"claim": "groups", "default": "viewer", "rules": [{"group": "platform", "role": "operator"}]}'

/** Throws an Error that names the problem. */
export const readRoleRules = (file: string): RoleRules => {
  const text = readText(file)
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (error) {
    throw new Error(`is not valid JSON: ${(error as Error).message}`)
  }
  const { data, error } = RoleRules.safeParse(content)
  if (data) return data
  const problems = error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim())
  throw new Error(`must look like ${shape}: ${problems.join('; ')}`)
}

/** The highest role that one of the groups has in the account. */
export const roleByRules = (
  { default: fallback, rules }: RoleRules,
  { groups, account }: { groups: readonly string[]; account: string },
): Role | null =>
  rules
    .filter((rule) => groups.includes(rule.group) && (rule.account ?? account) === account)
    .reduce<Role | null>((best, { role }) => (best === null || hasRole(role, best) ? role : best), null) ?? fallback

/** Groups of a person in the claims of their provider; undefined if the claim is missing. */
export const groupsIn = ({ claim }: RoleRules, claims: Record<string, unknown>): string[] | undefined => {
  // Names with dots exist: Auth0 requires URLs.
  const value = Object.hasOwn(claims, claim)
    ? claims[claim]
    : claim.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], claims)
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined
}
