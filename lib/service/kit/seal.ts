import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { ServiceError } from './errors.ts'

class SealError extends ServiceError {
  constructor(problem: string, cause?: unknown) {
    super('internal', problem, { shouldRetry: false, cause })
  }
}

export interface Sealer {
  /** `place` identifies the secret; sealed text can't be opened under another one. */
  seal(text: string, place: readonly string[]): Buffer
  open(sealed: Uint8Array, place: readonly string[]): string
}

const version = 1
const cipherName = 'aes-256-gcm'
const nonceLength = 12
const tagLength = 16

/** Creates the key on first use; `canCreateKey` prevents a new one from hiding the loss of the old one. */
export const createSealer = (keyFile: string, canCreateKey: () => boolean): Sealer => {
  const fileName = basename(keyFile)
  let known: Buffer | undefined
  const key = () => {
    known ??= readKey(keyFile) ?? (canCreateKey() ? createKey(keyFile) : undefined)
    if (known) return known
    throw new SealError(`Can't decrypt secrets: the key file ${fileName} is missing from the data folder`)
  }
  return {
    seal(text, place) {
      const nonce = randomBytes(nonceLength)
      const cipher = createCipheriv(cipherName, key(), nonce).setAAD(additionalData(place))
      const hidden = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(version), nonce, hidden, cipher.getAuthTag()])
    },

    open(sealed, place) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      const name = place.at(-1)
      if (bytes.length < 1 + nonceLength + tagLength || bytes[0] !== version)
        throw new SealError(`Secret ${name} is damaged or was encrypted by a newer Devdeck`)
      const decipher = createDecipheriv(cipherName, key(), bytes.subarray(1, 1 + nonceLength))
        .setAAD(additionalData(place))
        .setAuthTag(bytes.subarray(-tagLength))
      try {
        const text = decipher.update(bytes.subarray(1 + nonceLength, -tagLength))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch (error) {
        throw new SealError(
          `Can't decrypt secret ${name}: it is damaged or ${fileName} in the data folder is not its key`,
          error,
        )
      }
    },
  }
}

const additionalData = (place: readonly string[]) => Buffer.from(JSON.stringify([version, ...place]))

const readKey = (file: string): Buffer | undefined => {
  let text: string
  try {
    text = readFileSync(file, 'latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new SealError(`Can't decrypt secrets: ${basename(file)} in the data folder is unreadable`, error)
  }
  if (!/^[0-9a-f]{64}\n?$/.test(text))
    throw new SealError(`Can't decrypt secrets: ${basename(file)} in the data folder is not a valid key`)
  return Buffer.from(text.trim(), 'hex')
}

const createKey = (file: string): Buffer => {
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
