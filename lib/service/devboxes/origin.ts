import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Origin } from '#lib/service/engine/box.ts'
import { ifMissing } from '#lib/service/kit/errors.ts'

export const originFile = 'origin.json'

export interface StoredOrigin {
  origin: Origin
  /** Overrides the launch parameters. */
  network?: 'none'
}

/** Stores the origin of a devbox whose disk isn't made from its record alone. */
export const writeOrigin = (folder: string, stored: StoredOrigin): Promise<void> =>
  writeFile(join(folder, originFile), JSON.stringify(stored), { mode: 0o600 })

export const readOrigin = async (folder: string): Promise<StoredOrigin | undefined> => {
  const text = await readIfExists(join(folder, originFile))
  return text === undefined ? readOlderOrigin(folder) : (JSON.parse(text) as StoredOrigin)
}

/** Devboxes of earlier versions have notes in their disk, whose top-level folders exist already. */
const readOlderOrigin = async (folder: string): Promise<StoredOrigin | undefined> => {
  const system = await readIfExists(join(folder, 'system', 'made-of.json'))
  if (system === undefined && !existsSync(join(folder, 'root'))) return undefined
  return {
    origin: { root: [], ...(system === undefined ? { kind: 'root' } : { kind: 'system', system: JSON.parse(system) }) },
    ...(existsSync(join(folder, 'root', '.no-network')) && { network: 'none' }),
  }
}

const readIfExists = (path: string) => readFile(path, 'utf8').catch(ifMissing)
