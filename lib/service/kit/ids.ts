import { randomBytes } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const randomBits = 80n
const timeLength = 10
const randomLength = 16

let lastMs = 0
let lastRandom = 0n

/**
 * Returns an id like `axn_01k…`: prefix, 10 characters of time and 16 random ones in Crockford base 32. Ids of one
 * process sort by creation.
 */
export const newId = (prefix: string): string => {
  const now = Date.now()
  if (now > lastMs) {
    lastMs = now
    lastRandom = BigInt(`0x${randomBytes(10).toString('hex')}`)
  } else if (++lastRandom === 1n << randomBits) {
    lastMs++
    lastRandom = 0n
  }
  return `${prefix}_${base32(BigInt(lastMs), timeLength)}${base32(lastRandom, randomLength)}`
}

const base32 = (value: bigint, length: number) => {
  let text = ''
  for (let rest = value; text.length < length; rest >>= 5n) text = alphabet[Number(rest & 31n)] + text
  return text
}
