import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { countOf } from '#lib/service/kit/amounts.ts'

export const lostAndFoundName = 'lost+found'
const notesName = 'notes.txt'
export const recordedFolders = ['devboxes', 'snapshots'] as const
export type RecordedFolder = (typeof recordedFolders)[number]

/** Moves devboxes and snapshots that the database has no record of to `lost+found`. Deletes nothing. */
export class LostAndFound {
  readonly folder: string
  readonly #dataDir: string
  readonly #moved: Record<RecordedFolder, number> = { devboxes: 0, snapshots: 0 }

  constructor(dataDir: string, now = new Date()) {
    this.#dataDir = dataDir
    this.folder = join(dataDir, lostAndFoundName, now.toISOString().replaceAll(/[:.]/g, '-'))
  }

  take(kind: RecordedFolder, name: string): void {
    mkdirSync(join(this.folder, kind), { recursive: true, mode: 0o700 })
    renameSync(join(this.#dataDir, kind, name), join(this.folder, kind, name))
    this.#moved[kind]++
  }

  make(): string {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    return this.folder
  }

  /** Adds a note that `doctor` prints until someone deletes the folder. */
  note(text: string): void {
    appendFileSync(join(this.make(), notesName), `${text}\n`, { mode: 0o600 })
  }

  get summary(): string | undefined {
    const { devboxes, snapshots } = this.#moved
    if (devboxes + snapshots === 0) return undefined
    return `The database has no record of ${describeCount({ devboxes, snapshots })}, possibly because an older backup was restored. Nothing was deleted: moved to ${this.folder}. To recover, stop the service and run "npm run service -- recover --data-dir ${this.#dataDir}"`
  }
}

export const countRecorded = (folder: string): Record<RecordedFolder, number> => ({
  devboxes: namesIn(join(folder, 'devboxes')).length,
  snapshots: namesIn(join(folder, 'snapshots')).length,
})

export const lostFolders = (dataDir: string): string[] => {
  const folder = join(dataDir, lostAndFoundName)
  return namesIn(folder)
    .filter((name) => /^\d{4}-\d\d-\d\dT/.test(name))
    .sort()
    .map((name) => join(folder, name))
}

export const notesIn = (folder: string): string[] => {
  const file = join(folder, notesName)
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

export const describeCount = ({ devboxes, snapshots }: Record<RecordedFolder, number>): string =>
  [
    ...(devboxes > 0 ? [countOf(devboxes, 'devbox', 'devboxes')] : []),
    ...(snapshots > 0 ? [countOf(snapshots, 'snapshot')] : []),
  ].join(' and ')

export const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}
