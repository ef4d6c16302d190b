import type { DatabaseSync } from 'node:sqlite'

export const busyTimeoutMs = 5000
export const maxLogBytes = 4 * 2 ** 20

/**
 * Writes the log to the database file and restarts it. Stamps an odd generation before and an even one after, which
 * show whether a log belongs to the file.
 */
export const restartLog = (database: DatabaseSync): void => {
  // Frees the space that the writes below need on a full disk.
  database.exec('PRAGMA wal_checkpoint(PASSIVE)')
  stamp(database, 'odd')
  // Does not wait for readers: the log restarts at the next call instead.
  database.exec('PRAGMA busy_timeout = 0')
  try {
    database.exec('PRAGMA wal_checkpoint(RESTART)')
  } finally {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    stamp(database, 'even')
  }
}

const stamp = (database: DatabaseSync, parity: 'odd' | 'even') => {
  const { application_id } = database.prepare('PRAGMA application_id').get() as { application_id: number }
  const next = application_id + 1
  database.exec(`PRAGMA application_id = ${next % 2 === (parity === 'odd' ? 1 : 0) ? next : next + 1}`)
}
