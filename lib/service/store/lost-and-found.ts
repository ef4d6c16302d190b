import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { countOf } from '#lib/service/kit/amounts.ts'

export const lostAndFoundName = 'lost+found'
const notesName = 'notes.txt'
export const recordedFolders = ['devboxes', 'snapshots', 'objects'] as const
type RecordedFolder = (typeof recordedFolders)[number]
export type RecordedCounts = Record<RecordedFolder, number>
export const noneRecorded: RecordedCounts = { devboxes: 0, snapshots: 0, objects: 0 }

/** Moves devboxes, snapshots and objects that the database has no record of to `lost+found`. Deletes nothing. */
export class LostAndFound {
  readonly folder: string
  readonly #dataDir: string
  readonly #moved = { ...noneRecorded }

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
    if (!hasRecorded(this.#moved)) return undefined
    return `The database has no record of ${describeCount(this.#moved)}, possibly because an older backup was restored. Nothing was deleted: moved to ${this.folder}. To recover, stop the service and run "npm run service -- recover --data-dir ${this.#dataDir}"`
  }
}

export const countRecorded = (folder: string): RecordedCounts => ({
  devboxes: namesIn(join(folder, 'devboxes')).length,
  snapshots: namesIn(join(folder, 'snapshots')).length,
  objects: namesIn(join(folder, 'objects')).length,
})

export const hasRecorded = (counts: RecordedCounts): boolean => Object.values(counts).some((count) => count > 0)

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

export const describeCount = ({ devboxes, snapshots, objects }: RecordedCounts): string =>
  new Intl.ListFormat('en-GB').format([
    ...(devboxes > 0 ? [countOf(devboxes, 'devbox', 'devboxes')] : []),
    ...(snapshots > 0 ? [countOf(snapshots, 'snapshot')] : []),
    ...(objects > 0 ? [countOf(objects, 'object')] : []),
  ])

export const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}
