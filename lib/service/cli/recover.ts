import { existsSync, mkdirSync, renameSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sizeOf } from '#lib/service/devboxes/disk.ts'
import { readDevboxFile, readSnapshotFile } from '#lib/service/devboxes/record-file.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { databaseName, openDataDir } from '#lib/service/store/data-dir.ts'
import { openDatabase } from '#lib/service/store/database.ts'
import { createDevboxStore, type DevboxStore } from '#lib/service/store/devboxes.ts'
import {
  describeCount,
  LostAndFound,
  lostFolders,
  namesIn,
  type RecordedFolder,
  recordedFolders,
} from '#lib/service/store/lost-and-found.ts'
import { createSnapshotStore, type SnapshotStore } from '#lib/service/store/snapshots.ts'
import { salvageLog, saveOrphanedLog } from '#lib/service/store/write-ahead-log.ts'
import type { CommandLine } from './command-line.ts'

/** Lists again the devboxes and snapshots whose folders are there and whose records are lost. Deletes nothing. */
export const recover = async ({ dataDir, account }: CommandLine) => {
  if (!existsSync(dataDir)) throw new StartError(`There is no data folder ${dataDir}`)
  const { path, release } = openDataDir(dataDir)
  try {
    const file = join(path, databaseName)
    const lostAndFound = new LostAndFound(path)
    saveOrphanedLog(file, lostAndFound)
    const lostChanges = salvageLog(file, lostAndFound)
    if (lostChanges !== undefined) console.error(lostChanges)
    const database = openDatabase(file, { recover: true })
    try {
      const stores = { devboxes: createDevboxStore(database), snapshots: createSnapshotStore(database) }
      bringBack(path, stores)
      const counts = { devboxes: 0, snapshots: 0 }
      // First: a snapshot refers to the devbox it was taken from.
      for (const id of namesIn(join(path, 'devboxes')))
        if (!stores.devboxes.find(id)) {
          adoptDevbox(stores.devboxes, path, id, account)
          counts.devboxes++
        }
      for (const id of namesIn(join(path, 'snapshots')))
        if (id.startsWith('snp_') && !stores.snapshots.find(id)) {
          await adoptSnapshot(stores, path, id, account)
          counts.snapshots++
        }
      console.log(
        counts.devboxes + counts.snapshots === 0
          ? 'Every devbox and snapshot in the data folder is in the database already'
          : `${describeCount(counts)} listed again. Devboxes that had a disk are suspended: resume them to use them`,
      )
    } finally {
      database.close()
    }
  } finally {
    release()
  }
}

interface Stores {
  devboxes: DevboxStore
  snapshots: SnapshotStore
}

/** Moves what starts put into `lost+found` back to its place, the latest first. */
const bringBack = (dataDir: string, stores: Stores) => {
  for (const folder of lostFolders(dataDir).reverse()) {
    for (const kind of recordedFolders) {
      for (const name of namesIn(join(folder, kind))) moveBack(dataDir, kind, join(folder, kind, name), name, stores)
      removeIfEmpty(join(folder, kind))
    }
    removeIfEmpty(folder)
  }
}

const moveBack = (dataDir: string, kind: RecordedFolder, from: string, name: string, stores: Stores) => {
  const to = join(dataDir, kind, name)
  if (existsSync(to) || stores[kind].find(name)) {
    console.error(`${from} stays where it is: there is another ${name}`)
    return
  }
  mkdirSync(join(dataDir, kind), { recursive: true, mode: 0o700 })
  renameSync(from, to)
}

const removeIfEmpty = (folder: string) => {
  if (existsSync(folder) && namesIn(folder).length === 0) rmdirSync(folder)
}

const adoptDevbox = (store: DevboxStore, dataDir: string, id: string, account: string) => {
  const folder = join(dataDir, 'devboxes', id)
  const known = readDevboxFile(folder)
  if (!known) console.error(`${folder} has no record of its own: devbox ${id} becomes one of account ${account}`)
  // Only the disk of a devbox that was shut down is removed; its log stays.
  const status = existsSync(join(folder, 'home')) ? 'suspended' : 'shutdown'
  store.adopt({ ...blankDevbox(account, bornMs(folder)), ...known, id, tunnel: null }, status, Date.now())
}

const adoptSnapshot = async ({ devboxes, snapshots }: Stores, dataDir: string, id: string, account: string) => {
  const folder = join(dataDir, 'snapshots', id)
  const known = readSnapshotFile(folder)
  if (!known)
    console.error(
      `${folder} has no record of its own: snapshot ${id} becomes one of account ${account}; it may be incomplete`,
    )
  const source = known?.source_devbox_id ?? newId('dbx')
  if (!devboxes.find(source))
    devboxes.adopt(
      { ...blankDevbox(known?.account ?? account, bornMs(folder)), id: source, tunnel: null },
      'shutdown',
      Date.now(),
    )
  const size_bytes = known?.size_bytes ?? (await sizeOf(folder, { isolation: 'none', marks: {} }).catch(() => null))
  snapshots.adopt({
    account,
    name: null,
    create_time_ms: bornMs(folder),
    metadata: {},
    commit_message: null,
    ...known,
    id,
    source_devbox_id: source,
    size_bytes,
  })
}

const blankDevbox = (account: string, create_time_ms: number) => ({
  account,
  name: null,
  create_time_ms,
  metadata: {},
  launch_parameters: {},
  environment_variables: {},
  secrets: {},
  entrypoint: null,
  snapshot_id: null,
  initiator_type: 'api' as const,
  initiator_id: null,
})

const bornMs = (path: string): number => {
  const { birthtimeMs, mtimeMs } = statSync(path)
  return Math.floor(birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs)
}
