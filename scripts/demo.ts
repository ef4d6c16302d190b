import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { paths } from '#lib/browser/address/paths.ts'
import { ApiError } from '#lib/client/api-error.ts'
import { type Client, createClient } from '#lib/client/client.ts'
import { type BenchmarkJob, type BenchmarkJobCreate, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { runningService } from '#lib/service/store/data-dir.ts'
import { importedJob } from './imported-job.ts'

const usage = `npm run demo [-- options]

Fills a running service with something to look at: devboxes, a snapshot, axons with events, a benchmark of scenarios, and
benchmark jobs of which four have finished (two of the same agents, to compare, one of the tasks' own solutions, and one of
the benchmark), one has failed, one runs, and one is imported as if it had run elsewhere, with invented scores. Takes a few
minutes. What an earlier demo made stays.

  --url URL        the service; default: DEVDECK_SERVICE_URL, else the one that runs on the data folder
  --key KEY        its API key; default: DEVDECK_API_KEY, else the one in the data folder
  --data-dir DIR   the data folder of the console or of the service; default: the console's (DEVDECK_DATA_DIR)
  --console URL    where the links lead to; default: DEVDECK_ORIGIN, else this machine's port PORT or 3000`

/** An error for the user to fix; printed without a stack trace. */
class DemoError extends Error {}

const samples = join(import.meta.dirname, '../samples')

const main = async () => {
  const { url, key, console: origin } = findService()
  const client = createClient({ baseUrl: url, headers: { authorization: `Bearer ${key}` } })
  const say = (what: string, path: string) => console.log(`  ${what.padEnd(34)} ${origin}${path}`)
  const number = await nextNumber(client, url)
  console.log(`Demo ${number}, on ${url}`)
  const named = (name: string, metadata: Record<string, string> = {}) => ({
    name: `demo-${number}-${name}`,
    metadata: { ...metadata, demo: `${number}` },
  })

  for (const { name, metadata, commands } of devboxes) {
    const { id } = await client.devboxes.createAndAwaitRunning({ body: named(name, metadata) })
    for (const command of commands) await client.executions.executeSync({ params: { id }, body: { command } })
    say(`devbox ${named(name).name}`, paths.devbox(id))
    if (name !== 'build') continue
    const body = { ...named('sources'), commit_message: 'hello.py, as it first ran' }
    await client.snapshots.create({ params: { id }, body })
    say(`snapshot ${body.name}`, paths.snapshots())
  }
  for (const { name, metadata, events } of axons) {
    const { id } = await client.axons.create({ body: named(name, metadata) })
    for (const [event_type, origin, payload] of events) {
      const body = { event_type, origin, source: name, payload: JSON.stringify(payload) }
      await client.axons.publish({ params: { id }, body })
    }
    say(`axon ${named(name).name}`, paths.axon(id))
  }
  const elsewhere = named('elsewhere').name
  const { job_id } = await client.benchmarkJobs.import({ body: {}, file: await importedJob(elsewhere) })
  say(`job ${elsewhere}`, paths.benchmarkJob(job_id))

  const run = async (name: string, spec: BenchmarkJobCreate['spec'], isReached = isEnded) => {
    const job = await client.benchmarkJobs.create({
      body: { name: named(name).name, metadata: { demo: 'true' }, spec },
    })
    say(`job ${job.name}`, paths.benchmarkJob(job.id))
    const { state, failure_reason } = await follow(client, job, isReached)
    console.log(`    is ${state}${failure_reason ? `: ${failure_reason.split('\n')[0]}` : ''}`)
  }
  const scenario_ids: string[] = []
  for (const chore of chores) {
    const { id } = await client.scenarios.create({ body: { ...named(chore.name), ...scenarioOf(chore) } })
    scenario_ids.push(id)
  }
  const benchmark = await client.benchmarks.create({ body: { ...named('chores'), scenario_ids } })
  say(`benchmark ${benchmark.name}`, paths.benchmarks())
  const agent_configs = [choreAgent('skilled', chores), choreAgent('novice', chores.slice(0, 1))]
  await run('chores', { type: 'benchmark', benchmark_id: benchmark.id, agent_configs })
  const harbor = (file: string, change = (yaml: string) => yaml) => ({
    type: 'harbor' as const,
    inline_yaml: change(readFileSync(join(samples, 'jobs', `${file}.yaml`), 'utf8')),
  })
  await run('fails', harbor('broken'))
  await run('sanity', harbor('sanity'))
  await run('three-agents', harbor('demo'))
  await run('hasty-mended', harbor('demo', withHastyMended))
  await run('runs', harbor('long'), (job) => job.state === 'running' || isEnded(job))
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
      `No service runs on the data folder ${given}. Start one with npm run dev, or name another with --url and --key`,
    )
  const keyFile = join(dataDir, 'api-key')
  const key =
    values.key ?? (DEVDECK_API_KEY || (existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : undefined))
  if (!key) throw new DemoError(`There is no API key in ${dataDir}; give one with --key`)
  const origin = values.console ?? (DEVDECK_ORIGIN?.split(',')[0] || `http://localhost:${PORT || 3000}`)
  return { url, key, console: origin }
}

/** Number of this demo run, part of the names it creates. */
const nextNumber = async (client: Client, url: string): Promise<number> => {
  try {
    const { jobs } = await client.benchmarkJobs.list({ query: { name: 'demo-', limit: 1000 } })
    return Math.max(0, ...jobs.map(({ name }) => Number(/^demo-(\d+)-/.exec(name)?.[1] ?? 0))) + 1
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 0) throw new DemoError(`No service answers at ${url}: is it running?`)
    throw new DemoError(`The service at ${url} refused: ${error.message}`)
  }
}

const devboxes = [
  {
    name: 'build',
    metadata: { team: 'platform', env: 'staging' },
    commands: ['mkdir -p src && printf \'print("hello")\\n\' >src/hello.py', 'python3 src/hello.py', 'ls -la'],
  },
  {
    name: 'data',
    metadata: { team: 'research', env: 'prod' },
    commands: ['seq 1 20 >numbers.txt', 'wc -l numbers.txt', 'cat missing.txt'],
  },
]

const axons: {
  name: string
  metadata: Record<string, string>
  events: [string, 'AGENT_EVENT' | 'USER_EVENT', object][]
}[] = [
  {
    name: 'review',
    metadata: { team: 'platform', env: 'staging' },
    events: [
      ['message', 'USER_EVENT', { text: 'Please look at the failing test' }],
      ['tool_call', 'AGENT_EVENT', { tool: 'bash', command: 'npm test' }],
      ['tool_result', 'AGENT_EVENT', { exit_code: 1, lines: 42 }],
      ['message', 'AGENT_EVENT', { text: 'The test expects UTC; I changed the fixture' }],
    ],
  },
  {
    name: 'nightly',
    metadata: { team: 'research', env: 'prod' },
    events: [
      ['started', 'AGENT_EVENT', { dataset: 'tasks' }],
      ['finished', 'AGENT_EVENT', { passed: 12, failed: 3 }],
    ],
  },
]

/** Task, scoring command and a command that solves it. */
const chores = [
  {
    name: 'greeting',
    asked: 'Write the word hello into ~/greeting.txt',
    check: 'grep -qx hello ~/greeting.txt',
    solved: 'echo hello > ~/greeting.txt',
  },
  {
    name: 'powers',
    asked: 'Write the powers of two from 2 to 1024 into ~/powers.txt, one a line',
    check: 'cmp -s ~/powers.txt <(for i in $(seq 10); do echo $((2 ** i)); done)',
    solved: 'for i in $(seq 10); do echo $((2 ** i)); done > ~/powers.txt',
  },
  {
    name: 'primes',
    asked: 'Write the primes below 20 into ~/primes.txt, one a line',
    check: 'cmp -s ~/primes.txt <(printf "%d\\n" 2 3 5 7 11 13 17 19)',
    solved: 'printf "%d\\n" 2 3 5 7 11 13 17 19 > ~/primes.txt',
  },
] as const

type Chore = (typeof chores)[number]

const scenarioOf = ({ asked, check }: Chore) => {
  const bash_script = `if ${check}; then echo score=1; else echo score=0; fi`
  const scorer = { type: 'bash_script_scorer' as const, bash_script }
  return {
    input_context: { problem_statement: asked },
    scoring_contract: { scoring_function_parameters: [{ name: 'file', weight: 1, scorer }] },
  }
}

const choreAgent = (model_name: string, known: readonly Chore[]) => {
  const cases = known.map(({ asked, solved }) => `'${asked}'*) ${solved} ;;`).join('\n')
  return {
    name: 'command',
    type: 'job_agent' as const,
    model_name,
    kwargs: { command: `case $(<"$HARBOR_INSTRUCTION_FILE") in\n${cases}\n*) echo 'I do not know how' ;;\nesac` },
  }
}

const follow = async (client: Client, { id }: BenchmarkJob, isReached: (job: BenchmarkJob) => boolean) => {
  let last = ''
  for (;;) {
    const job = await client.benchmarkJobs.get({ params: { id } })
    if (isReached(job)) return job
    const done = (job.benchmark_outcomes ?? []).reduce((sum, each) => sum + each.scenario_outcomes.length, 0)
    const line = `    ${job.state}, ${done} trials done`
    if (line !== last) console.log(line)
    last = line
    await delay(2000)
  }
}

try {
  await main()
} catch (error) {
  if (!(error instanceof DemoError || error instanceof ApiError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
