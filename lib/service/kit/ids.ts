import { randomBytes } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Returns an id like `axn_01k…`: prefix, 10 characters of time and 16 random ones in Crockford base 32. */
export const newId = (prefix: string): string => {
  const now = Date.now()
  const time = Array.from({ length: 10 }, (_, i) => Math.floor(now / 32 ** (9 - i)) % 32)
  const digits = [...time, ...Array.from(randomBytes(16), (byte) => byte % 32)]
  return `${prefix}_${digits.map((digit) => alphabet[digit]).join('')}`
}
