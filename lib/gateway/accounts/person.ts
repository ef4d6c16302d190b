import { cleanName, nameCookie, unverified } from '#lib/protocol/session.ts'
import { cookieValues } from '../http/cookies.ts'
import type { ReadHeader } from '../http/origin.ts'
import type { Session } from './types.ts'

/** The name from single sign-on, or the one typed in this browser, marked as unverified. */
export const personOf = (
  { person, personal_key }: Pick<Session, 'person' | 'personal_key'>,
  header: ReadHeader,
): string | null => {
  if (person !== undefined) return person
  if (personal_key) return personal_key.by
  const name = cleanName(typedName(header))
  return name === '' ? null : unverified(name)
}

/** The person if known, otherwise the account that everyone with its key shares. */
export const personLabel = (
  session: Pick<Session, 'person' | 'personal_key' | 'account'>,
  header: ReadHeader,
): string => personOf(session, header) ?? session.account.name

const typedName = (header: ReadHeader): string => {
  const [value = ''] = cookieValues(header, nameCookie)
  try {
    return decodeURIComponent(value)
  } catch {
    return ''
  }
}
