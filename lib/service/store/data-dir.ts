import { createHash, randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { minKeyLength } from '#lib/limits/wrong-key-limit.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { newApiKey } from './keys.ts'

export const databaseName = 'devdeck.db'

export const reserveNames = { ends: 'reserve', commands: 'reserve-commands' }

export interface DataDir {
  path: string
  serviceId: string
  problem: () => string | undefined
  release: () => void
}

export const openDataDir = (path: string): DataDir => {
  try {
    makeDataDir(path)
    const unlock = lock(path)
    const folder = openSync(path, 'r')
    return {
      path,
      serviceId: serviceIdOf(path),
      problem: watchedFiles(path, fstatSync(folder)),
      release: () => {
        closeSync(folder)
        unlock()
      },
    }
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`The data folder ${path} cannot be used: ${(error as Error).message}`)
  }
}

/** A copy has another id, so that it doesn't claim the original's processes and containers. A reboot keeps the id. */
export const serviceIdOf = (path: string): string => {
  const { dev, ino, birthtimeNs } = statSync(path, { bigint: true })
  // Device numbers may change at a reboot, but not every file system has birth times.
  const parts = [readOrCreate(join(path, 'service-id'), randomUUID), ino, birthtimeNs || dev]
  return createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 32)
}

const watchedFiles = (path: string, { dev, ino }: Stats) => {
  const known = new Map<string, number>()
  return () => {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found?.dev !== dev || found.ino !== ino) return 'The data folder was removed or replaced'
    for (const name of [databaseName, `${databaseName}-wal`]) {
      const now = statSync(join(path, name), { throwIfNoEntry: false })?.ino
      const before = known.get(name)
      if (before !== undefined && now !== before) return `${name} in the data folder was removed or replaced`
      if (now !== undefined) known.set(name, now)
    }
    return undefined
  }
}

export const makeDataDir = (path: string) => {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chmodSync(path, 0o700)
}

export const readOrCreateApiKey = ({ path }: DataDir): string => {
  const file = join(path, 'api-key')
  const key = readOrCreate(file, newApiKey)
  if (key.length < minKeyLength)
    throw new StartError(
      `The key in ${file} is shorter than ${minKeyLength} characters. Delete the file to get a new key`,
    )
  return key
}

const files = { address: 'address', operatorToken: 'operator-token' } as const

export const publishAddress = ({ path }: DataDir, running: { address: string; operatorToken: string }) => {
  const write = (file: string, text: string) => {
    // Writing to an existing file would keep its mode.
    rmSync(join(path, file), { force: true })
    writeFileSync(join(path, file), `${text}\n`, { mode: 0o600, flag: 'wx' })
  }
  write(files.operatorToken, running.operatorToken)
  write(files.address, running.address)
  return () => {
    for (const file of Object.values(files)) rmSync(join(path, file), { force: true })
  }
}

export interface RunningService {
  pid: number
  address?: string
  operatorToken?: string
}

export const runningService = (path: string): RunningService | undefined => {
  const pid = holderOf(path)
  if (pid === undefined) return undefined
  const read = (file: string) => {
    const whole = join(path, file)
    return existsSync(whole) ? readFileSync(whole, 'utf8').trim() : undefined
  }
  const [address, operatorToken] = [read(files.address), read(files.operatorToken)]
  return address && operatorToken ? { pid, address, operatorToken } : { pid }
}

const readOrCreate = (file: string, make: () => string): string => {
  try {
    const text = readFileSync(file, 'utf8').trim()
    if (text !== '') return text
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const text = make()
  writeFileSync(file, `${text}\n`, { mode: 0o600 })
  return text
}

const lockTimeoutMs = 500

/** A kernel lock, which is not copied with the folder; the file `lock` only names the holder. */
const lock = (path: string) => {
  const held = openLock(path, lockTimeoutMs)
  const file = join(path, 'lock')
  try {
    // A journal file would need space on a full disk before the reserves are released.
    held.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    // On a full disk, starting needs the space that the last process reserved.
    for (const name of Object.values(reserveNames)) rmSync(join(path, name), { force: true })
    writeFileSync(file, `${process.pid}\n`, { mode: 0o600 })
  } catch (error) {
    held.close()
    throw isBusy(error) ? inUse(path, holderNamedIn(file)) : error
  }
  return () => {
    rmSync(file, { force: true })
    held.close()
  }
}

const inUse = (path: string, pid: number | undefined) =>
  new StartError(`The data folder ${path} is in use by another Devdeck service (pid ${pid ?? 'unknown'})`)

const openLock = (path: string, timeout: number): DatabaseSync => {
  const file = join(path, 'lock.db')
  // Only if missing: closing a file releases all locks of this process on it.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  return new DatabaseSync(file, { timeout })
}

const holderOf = (path: string): number | undefined => {
  const file = join(path, 'lock')
  if (!existsSync(file)) return undefined
  const database = openLock(path, 0)
  try {
    database.exec('SELECT 1 FROM sqlite_schema')
    return undefined
  } catch (error) {
    if (!isBusy(error)) throw error
    return holderNamedIn(file)
  } finally {
    database.close()
  }
}

const sqliteBusy = 5
const isBusy = (error: unknown) => (error as { errcode?: number }).errcode === sqliteBusy

const holderNamedIn = (file: string): number | undefined => {
  const [pid] = existsSync(file) ? (/^\d+/.exec(readFileSync(file, 'utf8')) ?? []) : []
  return pid === undefined ? undefined : Number(pid)
}
