import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { createAxonLists } from '#lib/service/store/axons/lists.ts'
import { AxonDatabase, type ReadEvents, StatementError } from './database.ts'
import { maxCopyMs, maxListMs, maxRunMs, outOfMemorySignal, type ProcessRequest, type SqlResponse } from './protocol.ts'

// Runs SQL of users, or lists axons. An endless SQLite statement can only be ended with its process, so a second thread kills
// the process at its time or memory limit. SQLite's own memory limits are disabled in Node (SQLITE_DEFAULT_MEMSTATUS=0).

const maxOpen = 16
/** Unspecified: memory limit of the process, of which Node uses about 80 MiB. */
const maxMemoryBytes = 384 * 1024 * 1024

const deadline = new BigInt64Array(new SharedArrayBuffer(8))
const watch = `
  const { workerData } = require('node:worker_threads')
  setInterval(() => {
    const deadline = Number(Atomics.load(workerData, 0))
    if (deadline === 0) return
    if (Date.now() > deadline) process.kill(process.pid, 'SIGKILL')
    if (process.memoryUsage.rss() > ${maxMemoryBytes}) process.kill(process.pid, '${outOfMemorySignal}')
  }, 20)`
new Worker(watch, { eval: true, workerData: deadline }).unref()

const withTimeout = <T>(ms: number, work: () => T): T => {
  Atomics.store(deadline, 0, BigInt(Date.now() + ms))
  try {
    return work()
  } finally {
    Atomics.store(deadline, 0, 0n)
  }
}

const service = new DatabaseSync(process.argv[2] ?? '', { readOnly: true, timeout: 5_000 })
const selectEvents = service.prepare(
  `SELECT sequence, timestamp_ms, origin, source, event_type, payload FROM axon_events
   WHERE axon = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
)
const lists = createAxonLists(service)
const readEvents = ((...values) => selectEvents.iterate(...values)) as ReadEvents

const open = new Map<string, AxonDatabase>()

const databaseOf = (file: string): AxonDatabase => {
  const known = open.get(file)
  open.delete(file)
  const database = known ?? new AxonDatabase(file)
  open.set(file, database)
  for (const [oldest, unused] of open) {
    if (open.size <= maxOpen) break
    unused.close()
    open.delete(oldest)
  }
  return database
}

const respond = (request: ProcessRequest): SqlResponse => {
  try {
    if (request.kind === 'list') return { json: withTimeout(maxListMs, () => lists.list(request)) }
    const database = databaseOf(request.file)
    if (database.needsEvents(request)) withTimeout(maxCopyMs, () => database.copyEvents(request.seq, readEvents))
    const results = withTimeout(maxRunMs, () => database.run(request))
    const body = request.kind === 'query' ? results[0] : { results: results.map((success) => ({ success })) }
    const json = Buffer.from(JSON.stringify(body))
    return { json }
  } catch (error) {
    if (request.kind === 'list' || !(error instanceof StatementError))
      return { failure: error instanceof Error ? error.message : String(error) }
    if (request.kind === 'query' || isSystemError(error)) return { error: error.message, errcode: error.errcode }
    // Unspecified: a batch also reports the other statements as failed, since all are rolled back.
    const results = request.statements.map((_, index) => ({
      error: {
        message:
          index === error.index
            ? error.message
            : `${index < error.index ? 'Rolled back' : 'Not run'}: statement ${error.index + 1} of the batch failed`,
      },
    }))
    return { json: Buffer.from(JSON.stringify({ results })) }
  }
}

/** SQLITE_INTERNAL, NOMEM, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB. */
const isSystemError = ({ errcode }: StatementError) => [2, 7, 10, 11, 13, 14, 26].includes(errcode & 0xff)

process.on('message', (request: ProcessRequest) => process.send?.(respond(request)))
process.on('disconnect', () => process.exit())
