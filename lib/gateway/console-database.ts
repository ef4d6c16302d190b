import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeDataFolder } from './data-folder.ts'

/** Opens a database in the data folder, or in memory if the folder is unusable. */
export const openConsoleDatabase = (dataDir: string | undefined, name: string, tables: string): DatabaseSync => {
  const open = (file: string) => {
    const database = new DatabaseSync(file, { timeout: 5000 })
    // NORMAL: a power cut may lose the last write.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${tables}`)
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
