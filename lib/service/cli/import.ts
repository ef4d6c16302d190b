import { randomBytes } from 'node:crypto'
import { createReadStream, openSync, readdirSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { request } from 'undici'
import { type BenchmarkJobImport, type BenchmarkJobImported, benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { runningService } from '#lib/service/store/data-dir.ts'
import type { CommandLine } from './command-line.ts'
import { RejectedImport, watchJobs } from './import-watch.ts'
import { withKeys } from './keys.ts'
import { type StoredFile, storedZip } from './stored-zip.ts'

export const importJobs = async (line: CommandLine) => {
  const path = resolve(line.words[0] ?? '')
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isDirectory() && (line.watch || !stats?.isFile()))
    throw new StartError(`${path} is not a folder${line.watch ? '' : ' or zip file'}`)
  if (line.watch) return watchJobs(path, line.watch, (folder, signal) => importFrom(folder, line, signal))
  await importFrom(path, line)
}

const maxImportMs = 24 * 3_600_000

const importFrom = async (path: string, { dataDir, account, importChoices }: CommandLine, signal?: AbortSignal) => {
  const running = runningService(dataDir)
  if (!running) throw new StartError(`No service is running on the data folder ${dataDir}; start it first`)
  const { pid, address } = running
  if (!address) throw new StartError(`The service on ${dataDir} (pid ${pid}) is still starting; try again`)
  const skipped: string[] = []
  // The service is on this host: compressing would only cost processor time.
  const archive = statSync(path).isFile() ? createReadStream(path) : storedZip(filesOf(path, basename(path), skipped))
  // A temporary key: existing keys aren't stored in readable form. It expires if this process is killed.
  const nowMs = Date.now()
  const { id, key } = withKeys(dataDir, (keys) =>
    keys.add({ account, name: 'import', nowMs, expiresAtMs: nowMs + maxImportMs }),
  )
  try {
    const { jobs, skipped: skippedJobs } = await send(`${address}`, key, importChoices, archive, signal)
    for (const each of skipped) console.error(`Skipped: ${each}`)
    for (const { path, reason } of skippedJobs) console.error(`Skipped: ${path}: ${reason}`)
    for (const { job_id, name, already_imported, n_trials, warnings } of jobs) {
      for (const each of warnings) console.error(`Warning: ${jobs.length > 1 ? `${name}: ` : ''}${each}`)
      const what = already_imported ? 'Already imported' : 'Imported'
      console.log(`${what}: ${name} (${job_id}), ${countOf(n_trials, 'trial')}`)
    }
  } finally {
    withKeys(dataDir, (keys) => keys.remove(id))
  }
}

function* filesOf(folder: string, name: string, skipped: string[]): Generator<StoredFile> {
  const skip = (path: string, reason: string) => void skipped.push(`${path}: ${reason}`)
  for (const entry of ifReadable(() => readdirSync(folder, { withFileTypes: true }), skip.bind(null, name)) ?? []) {
    const path = join(folder, entry.name)
    const below = `${name}/${entry.name}`
    if (entry.isDirectory()) yield* filesOf(path, below, skipped)
    else if (!entry.isFile()) skip(below, entry.isSymbolicLink() ? 'a symbolic link' : 'not a regular file')
    else {
      const file = ifReadable(() => openSync(path, 'r'), skip.bind(null, below))
      if (file !== undefined) yield { name: below, file }
    }
  }
}

/** A job that is still running may remove files meanwhile. */
const ifReadable = <T>(read: () => T, skip: (reason: string) => void): T | undefined => {
  try {
    return read()
  } catch (error) {
    skip(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return undefined
  }
}

const send = async (
  address: string,
  key: string,
  choices: BenchmarkJobImport,
  archive: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<BenchmarkJobImported> => {
  const boundary = `devdeck-${randomBytes(16).toString('hex')}`
  const { statusCode, body } = await request(`${address}${benchmarkJobs.import.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Readable.from(formOf(choices, archive, boundary), { objectMode: false }),
    // The response arrives after all trials are stored.
    headersTimeout: 0,
    signal: signal ?? null,
    bodyTimeout: 0,
  }).catch((error: Error) => {
    throw new StartError(`Lost connection to the service at ${address}: ${error.message}`)
  })
  const result = (await body.json()) as BenchmarkJobImported & { message?: string }
  if (statusCode === 200) return result
  const message = `The service at ${address} rejected the import: ${result.message ?? statusCode}`
  throw statusCode === 400 ? new RejectedImport(message) : new StartError(message)
}

async function* formOf(
  choices: BenchmarkJobImport,
  archive: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<Uint8Array> {
  for (const [name, value] of Object.entries(choices))
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  const head = 'content-disposition: form-data; name="file"; filename="job.zip"\r\ncontent-type: application/zip'
  yield Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`)
  yield* archive
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}
