import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ForeignTrial } from './foreign-job.ts'

/** Unspecified: the maximum number of log files per trial; the same as in a log archive. */
const maxFiles = 10_000
const maxDepth = 32

export const logsBelow = async (folder: string): Promise<{ files: ForeignTrial['logs']; omitted: number }> => {
  const files: ForeignTrial['logs'] = []
  let omitted = 0
  const walk = async (path: readonly string[]) => {
    const entries = await readdir(join(folder, ...path), { withFileTypes: true })
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const below = [...path, entry.name]
      if (entry.isDirectory() && below.length < maxDepth) await walk(below)
      else if (entry.isFile() && files.length < maxFiles) files.push({ from: join(folder, ...below), path: below })
      else omitted++
    }
  }
  await walk([])
  return { files, omitted }
}
