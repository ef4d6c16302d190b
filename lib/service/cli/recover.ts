import { existsSync, mkdirSync, renameSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readDevboxFile, readObjectFile, readSnapshotFile } from '#lib/service/devboxes/record-file.ts'
import { measure } from '#lib/service/engine/local/disk-tools.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { databaseName, openDataDir } from '#lib/service/store/data-dir.ts'
import { openDatabase } from '#lib/service/store/database.ts'
import { createDevboxStore, type DevboxStore } from '#lib/service/store/devboxes.ts'
import {
  describeCount,
  hasRecorded,
  LostAndFound,
  lostFolders,
  namesIn,
  noneRecorded,
  recordedFolders,
} from '#lib/service/store/lost-and-found.ts'
import { createObjectStore, type ObjectStore } from '#lib/service/store/objects.ts'
import { createSnapshotStore, type SnapshotStore } from '#lib/service/store/snapshots.ts'
import { salvageLog, saveOrphanedLog } from '#lib/service/store/write-ahead-log.ts'
import type { CommandLine } from './command-line.ts'

/** Restores database records of devboxes, snapshots and objects whose folders still exist. Deletes nothing. */
export const recover = async ({ dataDir, account }: CommandLine) => {
  if (!existsSync(dataDir)) throw new StartError(`Data folder ${dataDir} not found`)
  const { path, release } = openDataDir(dataDir)
  try {
    const file = join(path, databaseName)
    const lostAndFound = new LostAndFound(path)
    saveOrphanedLog(file, lostAndFound)
    const lostChanges = salvageLog(file, lostAndFound)
    if (lostChanges !== undefined) console.error(lostChanges)
    const database = openDatabase(file, { recover: true })
    try {
      const stores = {
        devboxes: createDevboxStore(database),
        snapshots: createSnapshotStore(database),
        objects: createObjectStore(database),
      }
      restoreFolders(path, stores)
      const counts = { ...noneRecorded }
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
      for (const id of namesIn(join(path, 'objects')))
        if (!stores.objects.find(id)) {
          adoptObject(stores.objects, path, id, account)
          counts.objects++
        }
      console.log(
        !hasRecorded(counts)
          ? 'Nothing to recover: the database has every devbox, snapshot and object in the data folder'
          : `Recovered ${describeCount(counts)}. Devboxes with a disk are suspended; resume them to continue`,
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
  objects: ObjectStore
}

const restoreFolders = (dataDir: string, stores: Stores) => {
  for (const folder of lostFolders(dataDir).reverse()) {
    for (const kind of recordedFolders) {
      for (const name of namesIn(join(folder, kind))) {
        const [from, to] = [join(folder, kind, name), join(dataDir, kind, name)]
        mkdirSync(join(dataDir, kind), { recursive: true, mode: 0o700 })
        if (!existsSync(to) && !stores[kind].find(name)) renameSync(from, to)
        else console.error(`${from} was not moved: ${name} already exists`)
      }
      removeIfEmpty(join(folder, kind))
    }
    removeIfEmpty(folder)
  }
}

const removeIfEmpty = (folder: string) => {
  if (existsSync(folder) && namesIn(folder).length === 0) rmdirSync(folder)
}

const adoptDevbox = (store: DevboxStore, dataDir: string, id: string, account: string) => {
  const folder = join(dataDir, 'devboxes', id)
  const record = readDevboxFile(folder)
  if (!record) console.error(`${folder} has no record file; devbox ${id} was assigned to account ${account}`)
  // Shutdown deletes only the disk.
  const status = (record && record.engine !== 'local') || existsSync(join(folder, 'home')) ? 'suspended' : 'shutdown'
  store.adopt({ ...blankDevbox(account, createdMs(folder)), ...record, id }, status, Date.now())
}

const adoptSnapshot = async ({ devboxes, snapshots }: Stores, dataDir: string, id: string, account: string) => {
  const folder = join(dataDir, 'snapshots', id)
  const record = readSnapshotFile(folder)
  if (!record)
    console.error(
      `${folder} has no record file; snapshot ${id} was assigned to account ${account} and may be incomplete`,
    )
  const source = record?.source_devbox_id ?? newId('dbx')
  const blank = blankDevbox(record?.account ?? account, createdMs(folder))
  if (!devboxes.find(source)) devboxes.adopt({ ...blank, id: source }, 'shutdown', Date.now())
  const measured = measure([folder], { isolation: 'none', marks: {} }).catch(() => undefined)
  const size_bytes = record?.size_bytes ?? (await measured)?.sizeBytes ?? null
  snapshots.adopt({
    account,
    name: null,
    create_time_ms: createdMs(folder),
    metadata: {},
    commit_message: null,
    engine: 'local',
    ...record,
    id,
    source_devbox_id: source,
    size_bytes,
  })
}

const adoptObject = (store: ObjectStore, dataDir: string, id: string, account: string) => {
  const folder = join(dataDir, 'objects', id)
  const record = readObjectFile(folder)
  // Written last, so without it the upload was not completed.
  if (!record) console.error(`${folder} has no record file; object ${id} was assigned to account ${account} as ERROR`)
  const blank = { account, name: id, content_type: 'unspecified', metadata: {}, delete_after_time_ms: null }
  store.adopt({
    ...{ ...blank, size_bytes: null, create_time_ms: createdMs(folder), ...record },
    ...{ id, state: record ? 'READ_ONLY' : 'ERROR' },
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
  engine: 'local' as const,
  snapshot_id: null,
  blueprint_id: null,
  image: null,
  tunnel: null,
  initiator_type: 'api' as const,
  initiator_id: null,
})

const createdMs = (path: string): number => {
  const { birthtimeMs, mtimeMs } = statSync(path)
  return Math.floor(birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs)
}
