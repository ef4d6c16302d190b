import type { Role } from './roles.ts'

/** Lets scripts act for a person. */
export interface PersonalKey {
  id: string
  name: string
  /** Highest role that requests with the key have. */
  role: Role
  /** The lower of the key's and the person's role; null if the person is no longer let in. */
  current_role: Role | null
  /** Null if it was created in a browser without a name. */
  person: string | null
  created_ms: number
  /** Null: never. */
  expires_ms: number | null
  /** Exact to a minute; null if never used. */
  last_used_ms: number | null
  is_own: boolean
}

/** Response of `GET /api/personal-keys`, newest first: one's own, and for operators everybody's in the account. */
export interface PersonalKeyList {
  keys: PersonalKey[]
}

/** Response of `POST /api/personal-keys`. The only one with the key itself. */
export interface CreatedPersonalKey {
  id: string
  key: string
}

export const maxKeyNameLength = 60
export const maxKeyDays = 365
