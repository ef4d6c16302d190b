import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A database of the console in its data folder. Where that cannot be used, it is in memory and ends with the console. */
export const openConsoleDatabase = (dataDir: string | undefined, name: string, tables: string): DatabaseSync => {
  const open = (file: string) => {
    const database = new DatabaseSync(file, { timeout: 5000 })
    // NORMAL: a power cut may cost the last write, which the console lives without.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${tables}`)
    return database
  }
  try {
    if (dataDir !== undefined) {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 })
      return open(join(dataDir, `${name}.sqlite`))
    }
  } catch (error) {
    console.error(`The console keeps its ${name} in memory, as ${dataDir} cannot be used:`, error)
  }
  return open(':memory:')
}
