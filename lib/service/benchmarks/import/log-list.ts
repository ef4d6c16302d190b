import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ForeignTrial } from './foreign-job.ts'

/** Unspecified: how many log files of a trial are kept. An archive of logs holds as many. */
const maxFiles = 10_000
const maxDepth = 32

/** The regular files below a folder; links are left out. */
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
