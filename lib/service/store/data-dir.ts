import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { minKeyLength } from '#lib/connections/wrong-key-limit.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { processStat } from '#lib/service/kit/proc.ts'
import { newApiKey } from './keys.ts'

/** The file in the data folder that holds all records. */
export const databaseName = 'devdeck.db'

/** The file that keeps room for what must be written on a full disk. */
export const reserveNames = { ends: 'reserve', commands: 'reserve-commands' }

export interface DataDir {
  path: string
  /** Stays the same over restarts; marks every process started on behalf of this folder. */
  serviceId: string
  release: () => void
}

/** Makes the folder if need be and takes it for this process. Throws a StartError when that cannot be. */
export const openDataDir = (path: string): DataDir => {
  try {
    makeDataDir(path)
    const release = oneAtATime(path, () => lock(path))
    return { path, serviceId: readOrMake(join(path, 'service-id'), randomUUID), release }
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`The data folder ${path} cannot be used: ${(error as Error).message}`)
  }
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
  const pid = readHolder(join(path, 'lock'))
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

/** Of two that find the lock of a dead process at the same moment, the second must not remove what the first made. */
const oneAtATime = <T>(path: string, work: () => T): T => {
  const file = join(path, 'lock.db')
  closeSync(openSync(file, 'a', 0o600))
  // The kernel takes this lock back when its process dies.
  const guard = new DatabaseSync(file, { timeout: 5000 })
  try {
    guard.exec('BEGIN EXCLUSIVE')
    return work()
  } finally {
    guard.close()
  }
}

const lock = (path: string) => {
  const file = join(path, 'lock')
  const holder = readHolder(file)
  if (holder !== undefined)
    throw new StartError(`The data folder ${path} is in use by another Devdeck service (pid ${holder})`)
  rmSync(file, { force: true })
  // On a full disk a start needs the room of the reserves that the last process kept.
  for (const name of Object.values(reserveNames)) rmSync(join(path, name), { force: true })
  // wx: of two that start at the same moment, one is refused.
  const handle = openSync(file, 'wx', 0o600)
  writeSync(handle, `${process.pid} ${processStat(process.pid)?.startTime ?? ''}\n`)
  closeSync(handle)
  return () => rmSync(file, { force: true })
}

/** The pid of the process that holds the lock, unless it has ended. */
const readHolder = (file: string): number | undefined => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const [pid = '', since = ''] = text.trim().split(' ')
  if (!/^\d+$/.test(pid) || !isAlive(Number(pid))) return undefined
  // A pid is given away again, in containers at every start: the same process began at the same time.
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
