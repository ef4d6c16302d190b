import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { paths } from '#lib/browser/address/paths.ts'
import { ApiError } from '#lib/client/api-error.ts'
import { type Client, createClient } from '#lib/client/client.ts'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
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

  const devboxes = await makeDevboxes(client, number)
  for (const { id, name } of devboxes) say(`devbox ${name}`, paths.devbox(id))
  const { name: snapshot } = await client.snapshots.create({
    params: { id: devboxes[0].id },
    body: {
      name: `demo-${number}-sources`,
      commit_message: 'hello.py, as it first ran',
      metadata: { demo: `${number}` },
    },
  })
  say(`snapshot ${snapshot}`, paths.snapshots())
  for (const { id, name } of await makeAxons(client, number)) say(`axon ${name}`, paths.axon(id))
  const elsewhere = `demo-${number}-elsewhere`
  const { job_id } = await client.benchmarkJobs.import({ body: {}, file: await importedJob(elsewhere) })
  say(`job ${elsewhere}`, paths.benchmarkJob(job_id))
  const until = async (job: BenchmarkJob, reached: typeof isEnded) => {
    say(`job ${job.name}`, paths.benchmarkJob(job.id))
    const then = await follow(client, job, reached)
    console.log(`    is ${then.state}${then.failure_reason ? `: ${then.failure_reason.split('\n')[0]}` : ''}`)
  }
  const make = async (file: string, name: string, reached: typeof isEnded, change?: (yaml: string) => string) =>
    until(await makeJob(client, `demo-${number}-${name}`, file, change), reached)
  const benchmark = await makeBenchmark(client, number)
  say(`benchmark ${benchmark.name}`, paths.benchmarks())
  await until(await benchmarkJob(client, number, benchmark.id), isEnded)
  await make('broken', 'fails', isEnded)
  await make('sanity', 'sanity', isEnded)
  await make('demo', 'three-agents', isEnded)
  await make('demo', 'hasty-mended', isEnded, withHastyMended)
  await make('long', 'runs', (job) => job.state === 'running' || isEnded(job))
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

const makeDevboxes = async (client: Client, number: number) => {
  const make = async (name: string, metadata: Record<string, string>, commands: string[]) => {
    const { id } = await client.devboxes.createAndAwaitRunning({
      body: { name: `demo-${number}-${name}`, metadata: { ...metadata, demo: `${number}` } },
    })
    for (const command of commands) await client.executions.executeSync({ params: { id }, body: { command } })
    return { id, name: `demo-${number}-${name}` }
  }
  return [
    await make('build', { team: 'platform', env: 'staging' }, [
      'mkdir -p src && printf \'print("hello")\\n\' >src/hello.py',
      'python3 src/hello.py',
      'ls -la',
    ]),
    await make('data', { team: 'research', env: 'prod' }, [
      'seq 1 20 >numbers.txt',
      'wc -l numbers.txt',
      'cat missing.txt',
    ]),
  ] as const
}

const makeAxons = async (client: Client, number: number) => {
  const make = async (
    name: string,
    metadata: Record<string, string>,
    events: [string, 'AGENT_EVENT' | 'USER_EVENT', object][],
  ) => {
    const { id } = await client.axons.create({
      body: { name: `demo-${number}-${name}`, metadata: { ...metadata, demo: `${number}` } },
    })
    for (const [event_type, origin, payload] of events)
      await client.axons.publish({
        params: { id },
        body: { event_type, origin, source: name, payload: JSON.stringify(payload) },
      })
    return { id, name: `demo-${number}-${name}` }
  }
  return [
    await make('review', { team: 'platform', env: 'staging' }, [
      ['message', 'USER_EVENT', { text: 'Please look at the failing test' }],
      ['tool_call', 'AGENT_EVENT', { tool: 'bash', command: 'npm test' }],
      ['tool_result', 'AGENT_EVENT', { exit_code: 1, lines: 42 }],
      ['message', 'AGENT_EVENT', { text: 'The test expects UTC; I changed the fixture' }],
    ]),
    await make('nightly', { team: 'research', env: 'prod' }, [
      ['started', 'AGENT_EVENT', { dataset: 'tasks' }],
      ['finished', 'AGENT_EVENT', { passed: 12, failed: 3 }],
    ]),
  ]
}

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

const makeBenchmark = async (client: Client, number: number) => {
  const scenario_ids: string[] = []
  for (const { name, asked, check } of chores) {
    const bash_script = `if ${check}; then echo score=1; else echo score=0; fi`
    const { id } = await client.scenarios.create({
      body: {
        name: `demo-${number}-${name}`,
        input_context: { problem_statement: asked },
        scoring_contract: {
          scoring_function_parameters: [
            { name: 'file', weight: 1, scorer: { type: 'bash_script_scorer', bash_script } },
          ],
        },
        metadata: { demo: `${number}` },
      },
    })
    scenario_ids.push(id)
  }
  return client.benchmarks.create({
    body: { name: `demo-${number}-chores`, scenario_ids, metadata: { demo: `${number}` } },
  })
}

/** One agent solves all chores, the other only the first. */
const benchmarkJob = (client: Client, number: number, benchmark_id: string): Promise<BenchmarkJob> => {
  const agent = (model_name: string, known: readonly (typeof chores)[number][]) => {
    const cases = known.map(({ asked, solved }) => `'${asked}'*) ${solved} ;;`).join('\n')
    return {
      name: 'command',
      type: 'job_agent' as const,
      model_name,
      kwargs: { command: `case $(<"$HARBOR_INSTRUCTION_FILE") in\n${cases}\n*) echo 'I do not know how' ;;\nesac` },
    }
  }
  return client.benchmarkJobs.create({
    body: {
      name: `demo-${number}-chores`,
      metadata: { demo: 'true' },
      spec: {
        type: 'benchmark',
        benchmark_id,
        agent_configs: [agent('skilled', chores), agent('novice', chores.slice(0, 1))],
      },
    },
  })
}

const makeJob = async (
  client: Client,
  name: string,
  file: string,
  change = (yaml: string) => yaml,
): Promise<BenchmarkJob> => {
  const inline_yaml = change(readFileSync(join(samples, 'jobs', `${file}.yaml`), 'utf8'))
  try {
    return await client.benchmarkJobs.create({
      body: { name, metadata: { demo: 'true' }, spec: { type: 'harbor', inline_yaml } },
    })
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_argument') throw error
    // The message says why, such as a missing bubblewrap.
    throw new DemoError(`The service does not take samples/jobs/${file}.yaml:\n${error.message}`)
  }
}

const trialsOf = ({ job_spec }: BenchmarkJob): number =>
  job_spec
    ? job_spec.scenario_ids.length * job_spec.agent_configs.length * (job_spec.orchestrator_config?.n_attempts || 1)
    : 0

const follow = async (client: Client, { id }: BenchmarkJob, reached: (job: BenchmarkJob) => boolean) => {
  let last = ''
  for (;;) {
    const job = await client.benchmarkJobs.get({ params: { id } })
    if (reached(job)) return job
    const done = (job.benchmark_outcomes ?? []).reduce((sum, each) => sum + each.scenario_outcomes.length, 0)
    const line = `    ${job.state}, ${done} of ${trialsOf(job)} trials done`
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
