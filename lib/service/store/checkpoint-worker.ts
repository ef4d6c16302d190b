import { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { busyTimeoutMs, maxLogBytes, restartLog } from './checkpoint.ts'

// A checkpoint syncs both files, which may take seconds on a slow disk. Writers wait only while the log restarts.
const database = new DatabaseSync(workerData as string, { timeout: busyTimeoutMs })
try {
  database.exec(
    `PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${maxLogBytes}`,
  )
  restartLog(database)
} finally {
  database.close()
}
