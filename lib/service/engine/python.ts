import { execFile } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isBelow, programFolders } from './bubblewrap/host-files.ts'

/** Returns the folder of the service's python3 if devboxes see it and it isn't the system's. */
export const machinePython = (): Promise<string | undefined> => {
  found ??= find()
  return found
}
let found: Promise<string | undefined> | undefined

const script = 'import sys, json; print(json.dumps([sys.prefix, sys.base_prefix]))'

const find = async (): Promise<string | undefined> => {
  try {
    const { stdout } = await promisify(execFile)('python3', ['-c', script], { timeout: 10_000, cwd: '/' })
    const prefixes = (JSON.parse(stdout) as string[]).map((prefix) => realpathSync(prefix))
    const [first = '/usr'] = prefixes
    const isVisible = prefixes.every((prefix) => programFolders.some((folder) => isBelow(prefix, folder)))
    return isVisible && !['/usr', '/usr/local'].includes(first) ? join(first, 'bin') : undefined
  } catch {
    // No python3; tasks that need it fail with their own message.
    return undefined
  }
}
