import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Origin } from '#lib/service/engine/box.ts'

export const originFile = 'origin.json'

export interface StoredOrigin {
  origin: Origin
  /** Overrides the launch parameters. */
  network?: 'none'
}

/** For devboxes whose disk isn't made from their record alone. */
export const writeOrigin = (folder: string, stored: StoredOrigin): Promise<void> =>
  writeFile(join(folder, originFile), JSON.stringify(stored), { mode: 0o600 })

export const readOrigin = async (folder: string): Promise<StoredOrigin | undefined> => {
  const text = await readFile(join(folder, originFile), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  return text === undefined ? undefined : (JSON.parse(text) as StoredOrigin)
}
