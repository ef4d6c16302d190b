import { execFile } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The python3 in the PATH of the service, when it is outside the system's folders that devboxes see. */
export interface Python {
  /** To be mounted at the same place, read-only. */
  folders: readonly string[]
  bin: string
}

/** Found once; undefined when there is none, or the system's own is the one. */
export const machinePython = (): Promise<Python | undefined> => {
  found ??= find()
  return found
}
let found: Promise<Python | undefined> | undefined

const script = 'import sys, json; print(json.dumps([sys.prefix, sys.base_prefix]))'

const find = async (): Promise<Python | undefined> => {
  try {
    const { stdout } = await promisify(execFile)('python3', ['-c', script], { timeout: 10_000, cwd: '/' })
    const prefixes = [...new Set((JSON.parse(stdout) as string[]).map((prefix) => realpathSync(prefix)))]
    const folders = prefixes.filter((prefix) => !/^\/(usr|opt|bin|lib)(\/|$)/.test(prefix))
    const [first] = folders
    return first !== undefined && folders.every(isOnlyPython) ? { folders, bin: join(first, 'bin') } : undefined
  } catch {
    // There is no python3; tasks that need one fail with a message of their own.
    return undefined
  }
}

/** Whether the folder is an installation or an environment of Python and holds nothing else. */
const isOnlyPython = (folder: string): boolean =>
  folder !== '/' &&
  !homedir().startsWith(folder) &&
  !/\s/.test(folder) &&
  existsSync(join(folder, 'bin', 'python3')) &&
  readdirSync(join(folder, 'lib')).some((name) => /^python3\.\d+$/.test(name)) &&
  readdirSync(folder).every((name) =>
    ['bin', 'include', 'lib', 'lib64', 'share', 'man', 'etc', 'pyvenv.cfg'].includes(name),
  )
