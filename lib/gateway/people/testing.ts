import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RoleRules } from './role-rules.ts'

/** A role for each of three groups, and no access for anyone else. */
export const testRules: RoleRules = {
  claim: 'groups',
  default: null,
  rules: [
    { group: 'everyone', role: 'viewer' },
    { group: 'research', role: 'member' },
    { group: 'platform', role: 'operator' },
  ],
}

/** A file for DEVDECK_ROLES in a temporary folder. */
export const makeRolesFile = (content: unknown = testRules) => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-roles-'))
  const file = join(folder, 'roles.json')
  /** Replaces the file by renaming, as editors and configuration tools do. */
  const write = (next: unknown) => {
    writeFileSync(`${file}.new`, typeof next === 'string' ? next : JSON.stringify(next))
    renameSync(`${file}.new`, file)
  }
  write(content)
  return { folder, file, write, remove: () => rmSync(folder, { recursive: true }) }
}
