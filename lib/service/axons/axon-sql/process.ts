import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { createAxonLists } from '#lib/service/store/axons/lists.ts'
import { AxonDatabase, type ReadEvents, SqlRefusal } from './database.ts'
import { maxCopyMs, maxListMs, maxRunMs, type ProcessRequest, type SqlAnswer, tookTooMuchMemory } from './protocol.ts'

/**
 * A process that runs SQL: that of users, or the lists of axons. Only the end of the process ends an SQLite statement that
 * never returns, so a second thread watches the time and the memory and ends the process, even when the service is gone.
 * The SQLite inside Node does not count its memory (SQLITE_DEFAULT_MEMSTATUS=0): its own limits do nothing.
 */

const maxOpen = 16
/** Unspecified: how much memory the process may take, of which Node's own part is some 80 MiB. */
const maxMemoryBytes = 384 * 1024 * 1024

const deadline = new BigInt64Array(new SharedArrayBuffer(8))
const watch = `
  const { workerData } = require('node:worker_threads')
  setInterval(() => {
    const deadline = Number(Atomics.load(workerData, 0))
    if (deadline === 0) return
    if (Date.now() > deadline) process.kill(process.pid, 'SIGKILL')
    if (process.memoryUsage.rss() > ${maxMemoryBytes}) process.kill(process.pid, '${tookTooMuchMemory}')
  }, 20)`
new Worker(watch, { eval: true, workerData: deadline }).unref()

const within = <T>(ms: number, work: () => T): T => {
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

/** The one that was used last is at the end. */
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

const answer = (request: ProcessRequest): SqlAnswer => {
  try {
    if (request.kind === 'list') return { json: within(maxListMs, () => lists.list(request)) }
    const database = databaseOf(request.file)
    if (database.needsEvents(request)) within(maxCopyMs, () => database.copyEvents(request.seq, readEvents))
    const results = within(maxRunMs, () => database.run(request))
    const body = request.kind === 'query' ? results[0] : { results: results.map((success) => ({ success })) }
    const json = Buffer.from(JSON.stringify(body))
    return { json }
  } catch (error) {
    if (request.kind === 'list' || !(error instanceof SqlRefusal))
      return { failure: error instanceof Error ? error.message : String(error) }
    if (request.kind === 'query' || isTrouble(error)) return { refusal: error.message, errcode: error.errcode }
    // Unspecified: what a batch says about the statements around the one that failed. None of them has done anything.
    const results = request.statements.map((_, index) => ({
      error: {
        message:
          index === error.index
            ? error.message
            : `${index < error.index ? 'Undone' : 'Not run'}: statement ${error.index + 1} of the batch failed`,
      },
    }))
    return { json: Buffer.from(JSON.stringify({ results })) }
  }
}

/** The disk, the file, the memory: SQLITE_INTERNAL, NOMEM, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB. */
const isTrouble = ({ errcode }: SqlRefusal) => [2, 7, 10, 11, 13, 14, 26].includes(errcode & 0xff)

process.on('message', (request: ProcessRequest) => process.send?.(answer(request)))
process.on('disconnect', () => process.exit())
