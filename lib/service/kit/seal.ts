import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { ServiceError } from './errors.ts'

/** Why secrets cannot be sealed or opened on this machine; never holds any of them. */
class SealError extends ServiceError {
  constructor(problem: string, cause?: unknown) {
    super('internal', problem, { shouldRetry: false, cause })
  }
}

export interface Sealer {
  /** `place` says whose text it is: sealed text opens in no other place. Throws a SealError. */
  seal(text: string, place: readonly string[]): Buffer
  /** Throws a SealError. */
  open(sealed: Uint8Array, place: readonly string[]): string
}

// What is sealed begins with the number of the way it was sealed, so that another can follow.
const version = 1
const cipherName = 'aes-256-gcm'
const nonceLength = 12
const tagLength = 16

/**
 * Seals text with the key in `keyFile`, which is made at the first use. `mayMakeKey` is asked then: without the key of
 * what is sealed already, a new one would hide that the old one is lost.
 */
export const createSealer = (keyFile: string, mayMakeKey: () => boolean): Sealer => {
  const fileName = basename(keyFile)
  let known: Buffer | undefined
  const key = () => {
    known ??= readKey(keyFile) ?? (mayMakeKey() ? makeKey(keyFile) : undefined)
    if (known) return known
    throw new SealError(`The secrets cannot be opened: their key, ${fileName} in the data folder, is missing`)
  }
  return {
    seal(text, place) {
      const nonce = randomBytes(nonceLength)
      const cipher = createCipheriv(cipherName, key(), nonce).setAAD(boundTo(place))
      const hidden = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(version), nonce, hidden, cipher.getAuthTag()])
    },

    open(sealed, place) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      const name = place.at(-1)
      if (bytes.length < 1 + nonceLength + tagLength || bytes[0] !== version)
        throw new SealError(`Secret ${name} is damaged, or was sealed by a newer Devdeck`)
      const decipher = createDecipheriv(cipherName, key(), bytes.subarray(1, 1 + nonceLength))
        .setAAD(boundTo(place))
        .setAuthTag(bytes.subarray(-tagLength))
      try {
        const text = decipher.update(bytes.subarray(1 + nonceLength, -tagLength))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch (error) {
        throw new SealError(
          `Secret ${name} cannot be opened: it is damaged, or ${fileName} in the data folder is not its key`,
          error,
        )
      }
    },
  }
}

const boundTo = (place: readonly string[]) => Buffer.from(JSON.stringify([version, ...place]))

const readKey = (file: string): Buffer | undefined => {
  let text: string
  try {
    text = readFileSync(file, 'latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new SealError(`The secrets cannot be opened: ${basename(file)} in the data folder cannot be read`, error)
  }
  if (!/^[0-9a-f]{64}\n?$/.test(text))
    throw new SealError(`The secrets cannot be opened: ${basename(file)} in the data folder holds no key`)
  return Buffer.from(text.trim(), 'hex')
}

/** On the disk before anything is sealed with it, and under its name only once it is whole. */
const makeKey = (file: string): Buffer => {
  const key = randomBytes(32)
  const part = `${file}.part`
  rmSync(part, { force: true })
  const handle = openSync(part, 'wx', 0o600)
  try {
    writeSync(handle, `${key.toString('hex')}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(part, file)
  return key
}
