import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { currentStore } from './store/current-store.ts'

/** The console's own files; `service` belongs to the local service. */
const consoleFiles = /^(session-secret|push-keys|\w+\.sqlite(-wal|-shm|-journal)?)$/

/** Creates the data folder if necessary, and makes it and the console's files in it private. */
export const makeDataFolder = (path: string): void => {
  makeDir(path)
  // Shared folders such as /tmp have the sticky bit.
  if (statSync(path).mode & 0o1000) throw new Error('other users share it; choose a dedicated folder')
  chmodSync(path, 0o700)
  for (const name of readdirSync(path)) {
    if (consoleFiles.test(name)) chmodSync(join(path, name), 0o600)
    if (name === 'recordings') closeToOthers(join(path, name))
  }
}

const closeToOthers = (folder: string): void => {
  chmodSync(folder, 0o700)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) closeToOthers(join(folder, entry.name))
    if (entry.isFile()) chmodSync(join(folder, entry.name), 0o600)
  }
}

/** Node's recursive mkdir never returns if the system fails with ENOENT, as below /proc. */
const makeDir = (path: string): void => {
  if (existsSync(path)) return
  makeDir(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

/** Opens a database in the data folder, or in memory if the folder is unusable or consoles share a store. */
export const openConsoleDatabase = (dataDir: string | undefined, name: string, tables: string): DatabaseSync => {
  const open = (file: string) => {
    const database = new DatabaseSync(file, { timeout: 5000 })
    // NORMAL: a power cut may lose the last write.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${tables}`)
    return database
  }
  const shared = currentStore()
  if (shared) {
    const database = open(':memory:')
    shared.attach(name, database, dataDir === undefined ? undefined : join(dataDir, `${name}.sqlite`))
    return database
  }
  try {
    if (dataDir !== undefined) {
      makeDataFolder(dataDir)
      const file = join(dataDir, `${name}.sqlite`)
      // SQLite would create it world-readable.
      closeSync(openSync(file, 'a', 0o600))
      return open(file)
    }
  } catch (error) {
    console.error(`Keeping ${name} in memory because ${dataDir} is unusable:`, error)
  }
  return open(':memory:')
}
