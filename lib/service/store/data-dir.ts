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
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { minKeyLength } from '#lib/limits/wrong-key-limit.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { processStat } from '#lib/service/kit/proc.ts'
import { newApiKey } from './keys.ts'

/** The file in the data folder that holds all records. */
export const databaseName = 'devdeck.db'

/** The file that keeps room for what must be written on a full disk. */
export const reserveNames = { ends: 'reserve', commands: 'reserve-commands' }

export interface DataDir {
  path: string
  /** Marks every process started for this folder. Stays the same across restarts, until the machine reboots. */
  serviceId: string
  /** Why nothing written now would be found after a restart: the folder or the database in it was removed or replaced. */
  problem: () => string | undefined
  release: () => void
}

/** Creates the folder if needed and takes it for this process. Throws a StartError when it cannot. */
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

/**
 * A file can be copied with its folder, and the copy must not take the original's processes for its own: so the mark
 * also depends on the folder's inode, and on the boot because inodes are reused.
 */
export const serviceIdOf = (path: string): string => {
  const { dev, ino } = statSync(path, { bigint: true })
  const parts = [readOrMake(join(path, 'service-id'), randomUUID), dev, ino, bootId()]
  return createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 32)
}

const watchedFiles = (path: string, { dev, ino }: Stats) => {
  const known = new Map<string, number>()
  return () => {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found?.dev !== dev || found.ino !== ino) return 'The data folder of the service was removed or replaced'
    for (const name of [databaseName, `${databaseName}-wal`]) {
      const now = statSync(join(path, name), { throwIfNoEntry: false })?.ino
      const before = known.get(name)
      if (before !== undefined && now !== before)
        return `${name} in the data folder of the service was removed or replaced`
      if (now !== undefined) known.set(name, now)
    }
    return undefined
  }
}

const bootId = (): string => {
  const file = '/proc/sys/kernel/random/boot_id'
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
}

/** Makes the folder if need be, for this user alone. */
export const makeDataDir = (path: string) => {
  makeDir(path)
  chmodSync(path, 0o700)
}

/** Step by step: Node's own recursive way never returns where the system refuses with ENOENT, as it does below /proc. */
const makeDir = (path: string): void => {
  if (existsSync(path)) return
  makeDir(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

/** The key of the account `local`, made at the first start. */
export const readOrMakeApiKey = ({ path }: DataDir): string => {
  const file = join(path, 'api-key')
  const key = readOrMake(file, newApiKey)
  if (key.length < minKeyLength)
    throw new StartError(`The key in ${file} has fewer than ${minKeyLength} characters: delete the file for a new one`)
  return key
}

const files = { address: 'address', operatorToken: 'operator-token' } as const

/** Writes how the command line reaches the running service. Returns the function that removes it again. */
export const publishAddress = ({ path }: DataDir, running: { address: string; operatorToken: string }) => {
  const write = (file: string, text: string) => {
    // Removed first: writing to an existing file would keep its mode.
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
  /** Absent while it is still starting. */
  address?: string
  operatorToken?: string
}

/** The service that holds the data folder, if one does. */
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

const readOrMake = (file: string, make: () => string): string => {
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

/** Long enough for a command that only checks whether a service is running. */
const lockTimeoutMs = 500

/**
 * Holds the folder until the returned function is called or this process dies: the kernel releases the lock, and it does
 * not travel with a copy. The file `lock` only names the holder.
 */
const lock = (path: string) => {
  const held = openLock(path, lockTimeoutMs)
  const file = join(path, 'lock')
  try {
    // A journal file would need room on a full disk before the reserves are given up.
    held.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    const older = holderWithoutLock(file)
    if (older !== undefined) throw inUse(path, older)
    // On a full disk, starting needs the room that the last process set aside.
    for (const name of Object.values(reserveNames)) rmSync(join(path, name), { force: true })
    writeFileSync(file, `${process.pid} ${processStat(process.pid)?.startTime ?? ''} held\n`, { mode: 0o600 })
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
  // Not when it is there: closing a file releases the locks that this process has on it.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  return new DatabaseSync(file, { timeout })
}

/** The pid of the service that holds the folder. */
const holderOf = (path: string): number | undefined => {
  const file = join(path, 'lock')
  if (!existsSync(file)) return undefined
  const older = holderWithoutLock(file)
  if (older !== undefined) return older
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

const readLock = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ') : [])

const holderNamedIn = (file: string): number | undefined => {
  const [pid = ''] = readLock(file)
  return /^\d+$/.test(pid) ? Number(pid) : undefined
}

/** A service of an older release holds no kernel lock: its process still runs and started when the file says. */
const holderWithoutLock = (file: string): number | undefined => {
  const [pid = '', since = '', held] = readLock(file)
  if (held !== undefined || !/^\d+$/.test(pid) || !isAlive(Number(pid))) return undefined
  const actual = processStat(Number(pid))?.startTime
  return actual === undefined || since === '' || actual === since ? Number(pid) : undefined
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
