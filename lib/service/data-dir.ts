import { randomBytes, randomUUID } from 'node:crypto'
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

/** A fault of the surroundings that a person has to mend; its message is the whole line to show. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

interface DataDir {
  path: string
  /** Stays the same over restarts; marks every process started on behalf of this folder. */
  serviceId: string
  release: () => void
}

/** Makes the folder if need be and takes it for this process. Throws a StartError when that cannot be. */
export const openDataDir = (path: string): DataDir => {
  try {
    makeDir(path)
    chmodSync(path, 0o700)
    const release = lock(path)
    return { path, serviceId: readOrMake(join(path, 'service-id'), randomUUID), release }
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`The data folder ${path} cannot be used: ${(error as Error).message}`)
  }
}

/** Step by step: Node's own recursive way never returns where the system refuses with ENOENT, as it does below /proc. */
const makeDir = (path: string): void => {
  if (existsSync(path)) return
  makeDir(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

/** The key of the account `local`, made at the first start. */
export const readOrMakeApiKey = ({ path }: DataDir): string =>
  readOrMake(join(path, 'api-key'), () => `ak_${randomBytes(24).toString('base64url')}`)

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

const lock = (path: string) => {
  const file = join(path, 'lock')
  const holder = readHolder(file)
  if (holder !== undefined)
    throw new StartError(`The data folder ${path} is in use by another Devdeck service (pid ${holder})`)
  rmSync(file, { force: true })
  // wx: of two that start at the same moment, one is refused.
  const handle = openSync(file, 'wx', 0o600)
  writeSync(handle, `${process.pid} ${startTime(process.pid) ?? ''}\n`)
  closeSync(handle)
  return () => rmSync(file, { force: true })
}

/** The pid of the process that holds the lock and still lives. */
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
  // A pid comes round again, in containers at every start: the same process began at the same time.
  const actual = startTime(Number(pid))
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

/** Field 22 of /proc/PID/stat, counted behind the name, which may hold spaces; undefined where there is no /proc. */
const startTime = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
