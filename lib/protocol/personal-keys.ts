import type { Role } from './roles.ts'

/** Lets scripts act for a person. */
export interface PersonalKey {
  id: string
  name: string
  /** Highest role that requests with the key have. */
  role: Role
  /** The lower of the key's and the person's role; null if the person no longer has access. */
  current_role: Role | null
  /** Null if it was created in a browser without a name. */
  person: string | null
  created_ms: number
  /** Null: never. */
  expires_ms: number | null
  /** Accurate to a minute; null if never used. */
  last_used_ms: number | null
  is_own: boolean
}

/** Response of `GET /api/personal-keys`, newest first: the caller's, and for operators everyone's in the account. */
export interface PersonalKeyList {
  keys: PersonalKey[]
}

/** Response of `POST /api/personal-keys`, the only one that contains the key itself. */
export interface CreatedPersonalKey {
  id: string
  key: string
}

export const maxKeyNameLength = 60
export const maxKeyDays = 365
