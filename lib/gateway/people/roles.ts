import { statSync } from 'node:fs'
import { lowerRole, type Role, roleRefusal } from '#lib/protocol/roles.ts'
import type { Session } from '../accounts/types.ts'
import { HttpError } from '../http/handle-request.ts'
import { logError, logInfo } from '../observability/log.ts'
import { registry, slot } from '../registry/registry.ts'
import { hasExpired, keyStore } from './key-store.ts'
import { type RoleRules, readRoleRules, roleByRules } from './role-rules.ts'

/** The current rules, and the version of the file they were read from. */
const state = slot('roleRules', () => ({ version: '', rules: undefined as RoleRules | undefined, readMs: 0 }))

const recheckMs = 500

/**
 * The rules in DEVDECK_ROLES, reloaded when the file changes. If it is invalid, the previous rules stay in force.
 * Undefined without the setting.
 */
export const roleRules = (now = Date.now()): RoleRules | undefined => {
  const { roles } = registry().config
  if (roles === undefined) return undefined
  const current = state()
  current.rules ??= roles.rules
  if (Math.abs(now - current.readMs) < recheckMs) return current.rules
  current.readMs = now
  const version = versionOf(roles.file)
  if (version === current.version) return current.rules
  const isFirst = current.version === ''
  current.version = version
  try {
    current.rules = readRoleRules(roles.file)
    if (!isFirst) logInfo(`Reloaded DEVDECK_ROLES ${roles.file}`)
  } catch (error) {
    logError(`DEVDECK_ROLES ${roles.file} ${(error as Error).message}. The previous rules stay in force`)
  }
  return current.rules
}

/** Replacing the file changes the inode, editing it the time. */
const versionOf = (file: string): string => {
  try {
    const { ino, mtimeMs, size } = statSync(file)
    return `${ino} ${mtimeMs} ${size}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'missing'
  }
}

export type RoleHolder = Pick<Session, 'person' | 'groups' | 'account' | 'personal_key'>

/** Null if the person or personal key no longer has access. People who entered an API key are operators. */
export const roleOf = ({ personal_key, ...holder }: RoleHolder): Role | null => {
  if (!personal_key) return roleOfPerson(holder)
  const key = keyStore().get(personal_key.id)
  if (!key || hasExpired(key)) return null
  const role = roleOfPerson({ ...holder, groups: key.groups })
  return role && lowerRole(role, key.role)
}

const roleOfPerson = ({ person, groups = [], account }: Omit<RoleHolder, 'personal_key'>): Role | null => {
  if (person === undefined) return registry().config.isSignOnOnly ? null : 'operator'
  const rules = roleRules()
  return rules ? roleByRules(rules, { groups, account: account.id }) : 'operator'
}

export const requireRole = (session: RoleHolder, least: Role): void => {
  const refusal = roleRefusal(roleOf(session) ?? 'viewer', least)
  if (refusal !== null) throw new HttpError('forbidden', refusal)
}
