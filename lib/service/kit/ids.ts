import { randomBytes } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Returns an id like `axn_01k…`: prefix, 10 characters of time and 16 random ones in Crockford base 32. */
export const newId = (prefix: string): string => {
  const random = Array.from(randomBytes(16), (byte) => alphabet[byte % 32])
  return `${prefix}_${timeOfId(Date.now())}${random.join('')}`
}

/** The 10 characters of ids created at this time. They sort like the times. */
export const timeOfId = (timeMs: number): string =>
  Array.from({ length: 10 }, (_, i) => alphabet[Math.floor(timeMs / 32 ** (9 - i)) % 32]).join('')
