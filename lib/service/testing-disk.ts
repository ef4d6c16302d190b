import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, open, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** How many calls on files Node runs at once, unless UV_THREADPOOL_SIZE says otherwise. */
export const fileThreads = 4

/**
 * Keeps one of Node's threads for files busy, as a slow disk does, until the answer is called. Waiting for a pipe that
 * nobody writes to holds it.
 */
export const holdFileThread = (): (() => Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-hold-'))
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const opening = promisify(open)(pipe, 'r')
  return async () => {
    const end = openSync(pipe, 'w')
    closeSync(await opening)
    closeSync(end)
    rmSync(folder, { recursive: true })
  }
}

/** Nothing reaches the disk but what is waited for, until the answer is called. */
export const holdDisk = (): (() => Promise<void>) => {
  const releases = Array.from({ length: fileThreads }, holdFileThread)
  return async () => {
    for (const release of releases) await release()
  }
}
