import { execFile } from 'node:child_process'
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isBelow, programFolders } from './bubblewrap/host-files.ts'

/** The service's python3, unless it is the system's or inside a home directory. */
export interface Python {
  folders: readonly string[]
  bin: string
}

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
    const folders = prefixes.filter((prefix) => !programFolders.some((folder) => isBelow(prefix, folder)))
    const [first = '/usr'] = prefixes
    if (['/usr', '/usr/local'].includes(first) || !folders.every((folder) => isOnlyPython(folder) && isShared(folder)))
      return undefined
    return { folders, bin: join(first, 'bin') }
  } catch {
    // No python3; tasks that need it fail with their own message.
    return undefined
  }
}

const isShared = (folder: string): boolean => {
  const homes = ['/root', '/home', homedir()].filter((home) => home !== '/')
  const isOpen = (path: string): boolean =>
    (statSync(path).mode & 0o001) !== 0 && (path === dirname(path) || isOpen(dirname(path)))
  return !homes.some((home) => isBelow(folder, home)) && isOpen(folder)
}

const isOnlyPython = (folder: string): boolean =>
  folder !== '/' &&
  !homedir().startsWith(folder) &&
  !/\s/.test(folder) &&
  existsSync(join(folder, 'bin', 'python3')) &&
  readdirSync(join(folder, 'lib')).some((name) => /^python3\.\d+$/.test(name)) &&
  readdirSync(folder).every((name) =>
    ['bin', 'include', 'lib', 'lib64', 'share', 'man', 'etc', 'pyvenv.cfg'].includes(name),
  )
