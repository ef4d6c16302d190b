import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { paths } from '#lib/browser/address/paths.ts'
import { ApiError } from '#lib/client/api-error.ts'
import { type Client, createClient } from '#lib/client/client.ts'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { createJob, followJob, loadDemo } from '#lib/gateway/demo/load-demo.ts'
import { runningService } from '#lib/service/store/data-dir.ts'

const usage = `npm run demo [-- options]

Adds demo data to a running service in about 20 seconds: devboxes, a snapshot, axons with events, a benchmark with two
jobs to compare, and an imported job with invented scores. Then runs longer jobs on the sample tasks for a few minutes:
one that fails, one with the tasks' own solutions, two with three agents each to compare, and one that is still running
at the end. Keeps earlier demo data.

  --quick          Skip the longer jobs
  --url URL        Service. Default: DEVDECK_SERVICE_URL, or the one that runs on the data folder
  --key KEY        API key. Default: DEVDECK_API_KEY, or the one in the data folder
  --data-dir DIR   Data folder of the console or the service. Default: the console's (DEVDECK_DATA_DIR)
  --console URL    Console that links point to. Default: DEVDECK_ORIGIN, or port PORT or 3000 of this machine`

/** An error for the user to fix; printed without a stack trace. */
class DemoError extends Error {}

const samples = join(import.meta.dirname, '../samples')

const main = async () => {
  const { url, key, console: origin, isQuick } = findService()
  const client = createClient({ baseUrl: url, headers: { authorization: `Bearer ${key}` } })
  const say = (what: string, path: string) => console.log(`  ${what.padEnd(34)} ${origin}${path}`)
  const number = await nextNumber(client, url)
  console.log(`Demo ${number}, on ${url}`)
  await loadDemo({
    client,
    number,
    onItem: ({ kind, name, id, is_ready }) => {
      if (is_ready && id !== null && kind !== 'scenario') say(`${kind} ${name}`, pathOf[kind](id))
    },
  })
  if (isQuick) return

  const run = async (name: string, file: string, change = (yaml: string) => yaml, isReached = isEnded) => {
    const inline_yaml = change(readFileSync(join(samples, 'jobs', `${file}.yaml`), 'utf8'))
    const metadata = { demo: `${number}` }
    const job = await createJob(client, {
      name: `demo-${number}-${name}`,
      metadata,
      spec: { type: 'harbor', inline_yaml },
    })
    say(`job ${job.name}`, paths.benchmarkJob(job.id))
    let last = ''
    const report = (progress: string) => {
      if (progress !== last) console.log(`    ${progress}`)
      last = progress
    }
    const { state, failure_reason } = await followJob(client, job, { report, isReached })
    console.log(`    is ${state}${failure_reason ? `: ${failure_reason.split('\n')[0]}` : ''}`)
  }
  await run('fails', 'broken')
  await run('sanity', 'sanity')
  await run('three-agents', 'demo')
  await run('hasty-mended', 'demo', withHastyMended)
  await run('runs', 'long', undefined, (job) => job.state === 'running' || isEnded(job))
}

const pathOf = {
  job: paths.benchmarkJob,
  devbox: paths.devbox,
  snapshot: paths.snapshot,
  axon: paths.axon,
  benchmark: () => paths.benchmarks(),
}

const isEnded = ({ state }: BenchmarkJob): boolean => hasJobEnded(state)

const withHastyMended = (yaml: string): string =>
  yaml.replace('n_attempts: 2', 'n_attempts: 1').replace('grep -ci --', 'grep -cF --')

const findService = () => {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      key: { type: 'string' },
      'data-dir': { type: 'string' },
      console: { type: 'string' },
      quick: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    console.log(usage)
    process.exit(0)
  }
  const { DEVDECK_SERVICE_URL, DEVDECK_API_KEY, DEVDECK_DATA_DIR, DEVDECK_ORIGIN, PORT } = process.env
  const given = values['data-dir'] ?? (DEVDECK_DATA_DIR || '.devdeck')
  // The console keeps its service's folder inside its own.
  const inside = join(given, 'service')
  const dataDir = existsSync(inside) && !runningService(given) ? inside : given
  const url = values.url ?? (DEVDECK_SERVICE_URL || runningService(dataDir)?.address)
  if (!url)
    throw new DemoError(
      `No service runs on the data folder ${given}. Start one with npm run dev, or pass --url and --key of another one`,
    )
  const keyFile = join(dataDir, 'api-key')
  const key =
    values.key ?? (DEVDECK_API_KEY || (existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : undefined))
  if (!key) throw new DemoError(`There is no API key in ${dataDir}; pass one with --key`)
  const origin = values.console ?? (DEVDECK_ORIGIN?.split(',')[0] || `http://localhost:${PORT || 3000}`)
  return { url, key, console: origin, isQuick: values.quick === true }
}

/** Number of this demo run, part of the names it creates. */
const nextNumber = async (client: Client, url: string): Promise<number> => {
  try {
    const { jobs } = await client.benchmarkJobs.list({ query: { name: 'demo-', limit: 1000 } })
    return Math.max(0, ...jobs.map(({ name }) => Number(/^demo-(\d+)-/.exec(name)?.[1] ?? 0))) + 1
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 0) throw new DemoError(`No service responds at ${url}: is it running?`)
    throw new DemoError(`The service at ${url} refused: ${error.message}`)
  }
}

try {
  await main()
} catch (error) {
  if (!(error instanceof DemoError || error instanceof ApiError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
