import { randomBytes } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { request } from 'node:http'
import { basename, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type BenchmarkJobImport, type BenchmarkJobImported, benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { filesBelow } from '#lib/service/benchmarks/log-files.ts'
import { type ZipEntry, zip } from '#lib/service/benchmarks/zip.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { runningService } from '#lib/service/store/data-dir.ts'
import type { CommandLine } from './command-line.ts'
import { withKeys } from './keys.ts'

/** Sends a folder, or the zip of one, to the service that runs on the data folder. A folder is packed while it is sent. */
export const importJob = async ({ dataDir, account, importChoices, words: [given = ''] }: CommandLine) => {
  const path = resolve(given)
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isDirectory() && !stats?.isFile()) throw new StartError(`There is no folder or zip ${path}`)
  const running = runningService(dataDir)
  if (!running) throw new StartError(`No service runs on the data folder ${dataDir}; start it, then import`)
  const { pid, address } = running
  if (!address) throw new StartError(`The service on ${dataDir} (pid ${pid}) is still starting; try again`)
  const leftOut: string[] = []
  const archive = stats.isFile() ? createReadStream(path) : zip(entriesOf(path, leftOut))
  // For this one call: whoever may write to the data folder may make keys, and those in use are not kept in it.
  const { id, key } = withKeys(dataDir, (keys) => keys.add(account, 'import', Date.now()))
  try {
    const { job_id, name, already_imported, n_trials, warnings } = await send(`${address}`, key, importChoices, archive)
    for (const each of leftOut) console.error(`Left out: ${each}`)
    for (const each of warnings) console.error(`Warning: ${each}`)
    const what = already_imported ? 'Known already, nothing was changed' : 'Imported'
    console.log(`${what}: ${name} (${job_id}), ${countOf(n_trials, 'trial')}`)
  } finally {
    withKeys(dataDir, (keys) => keys.revoke(id, Date.now()))
  }
}

/** A job folder has one for each trial: none of them may be lost to a bound that is meant for logs. */
const maxEntries = 1_000_000

/** The files of a folder, below its own name, as a zip that a person makes of it has them. */
async function* entriesOf(path: string, leftOut: string[]): AsyncGenerator<ZipEntry> {
  const omit = (name: string[], reason: string) => leftOut.push(`${name.join('/')}: ${reason}`)
  for await (const { path: name, modifiedMs, content } of filesBelow(path, omit, maxEntries))
    yield { name: [basename(path), ...name].join('/'), modifiedMs, content }
}

/** Without a limit of time: the answer comes when all trials are kept. */
const send = async (
  address: string,
  key: string,
  choices: BenchmarkJobImport,
  archive: Readable,
): Promise<BenchmarkJobImported> => {
  const boundary = `devdeck-${randomBytes(16).toString('hex')}`
  const call = request(`${address}${benchmarkJobs.import.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  const answered = new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    call.once('error', reject)
    call.once('response', (response) => {
      json(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
    })
  })
  answered.catch(() => undefined)
  const sent = pipeline(Readable.from(formOf(choices, archive, boundary), { objectMode: false }), call)
  // A refusal may come before all is sent: its reason tells more than the connection that broke.
  const { status, body } = await Promise.race([answered, sent.then(() => answered)]).catch(async (error: Error) => {
    const soon = new Promise<never>((_, reject) => setTimeout(() => reject(unreachable(address, error)), 1000).unref())
    return Promise.race([answered.catch(() => soon), soon])
  })
  if (status !== 200)
    throw new StartError(`The service at ${address} refused: ${(body as { message?: string }).message ?? status}`)
  return body as BenchmarkJobImported
}

async function* formOf(choices: BenchmarkJobImport, archive: Readable, boundary: string): AsyncGenerator<Uint8Array> {
  for (const [name, value] of Object.entries(choices))
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  const head = 'content-disposition: form-data; name="file"; filename="job.zip"\r\ncontent-type: application/zip'
  yield Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`)
  yield* archive
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}

const unreachable = (address: string, error: Error) =>
  new StartError(`The service at ${address} broke off: ${error.message}`)
