import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '#lib/client/client.ts'
import { type BenchmarkJob, type BenchmarkJobCreate, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import type { DemoItem, DemoKind } from '#lib/protocol/demo.ts'
import { importedJob } from './imported-job.ts'

interface DemoOptions {
  client: Client
  /** Part of every name. */
  number: number
  /** Called when an item starts, exists, progresses and is ready. */
  onItem(item: DemoItem): void
  signal?: AbortSignal | undefined
}

const pollMs = 500

/**
 * Creates devboxes, a snapshot, axons, a benchmark and three jobs within about 20 seconds: one imported with invented
 * scores, which has results at once, and two of the same agents to compare.
 */
export const loadDemo = async ({ client, number, onItem, signal }: DemoOptions): Promise<void> => {
  const named = (name: string, metadata: Record<string, string> = {}) => ({
    name: `demo-${number}-${name}`,
    metadata: { ...metadata, demo: `${number}` },
  })
  /** Lists the item before `create` runs. `create` reports its id as soon as it is known. */
  const make = async (kind: DemoKind, name: string, create: (report: Report) => Promise<string>): Promise<string> => {
    signal?.throwIfAborted()
    const item: DemoItem = { kind, name: named(name).name, id: null, is_ready: false, detail: null }
    onItem(item)
    const id = await create((change) => onItem(Object.assign(item, change)))
    onItem(Object.assign(item, { id, is_ready: true, detail: null }))
    return id
  }

  const importing = make('job', 'invented-scores', async () => {
    const file = await importedJob(named('invented-scores').name)
    return (await client.benchmarkJobs.import({ body: {}, file })).job_id
  })
  const making = [
    importing,
    ...devboxes.map(async ({ name, metadata, commands }) => {
      await importing
      const id = await make('devbox', name, async (report) => {
        const { id } = await client.devboxes.createAndAwaitRunning({ body: named(name, metadata) })
        report({ id })
        for (const command of commands) await client.executions.executeSync({ params: { id }, body: { command } })
        return id
      })
      if (name !== 'build') return
      const body = { ...named('sources'), commit_message: 'hello.py, as it first ran' }
      await make('snapshot', 'sources', async () => (await client.snapshots.create({ params: { id }, body })).id)
    }),
    ...axons.map(({ name, metadata, events }) =>
      make('axon', name, async (report) => {
        const { id } = await client.axons.create({ body: named(name, metadata) })
        report({ id })
        for (const [event_type, origin, payload] of events) {
          const body = { event_type, origin, source: name, payload: JSON.stringify(payload) }
          await client.axons.publish({ params: { id }, body })
        }
        return id
      }),
    ),
    (async () => {
      await importing
      const scenario_ids = await Promise.all(
        chores.map((chore) =>
          make('scenario', chore.name, async () => {
            const { id } = await client.scenarios.create({ body: { ...named(chore.name), ...scenarioOf(chore) } })
            return id
          }),
        ),
      )
      const benchmark_id = await make('benchmark', 'chores', async () => {
        const { id } = await client.benchmarks.create({ body: { ...named('chores'), scenario_ids } })
        return id
      })
      // One after the other: the first has results sooner, and this machine may have two cores.
      for (const [name, known] of [
        ['chores', 2],
        ['chores-improved', 4],
      ] as const)
        await make('job', name, async (report) => {
          const agent_configs = [choreAgent('skilled', chores), choreAgent('novice', chores.slice(0, known))]
          const spec = { type: 'benchmark' as const, benchmark_id, agent_configs }
          const job = await createJob(client, { ...named(name), spec })
          report({ id: job.id })
          await followJob(client, job, { report: (detail) => report({ detail }), signal })
          return job.id
        })
    })(),
  ]
  // Items still being created would otherwise be lost for the removal.
  const failed = (await Promise.allSettled(making)).find(({ status }) => status === 'rejected')
  if (failed) throw (failed as PromiseRejectedResult).reason
}

type Report = (change: Partial<Pick<DemoItem, 'id' | 'detail'>>) => void

export const createJob = (client: Client, body: { name: string } & Pick<BenchmarkJobCreate, 'spec' | 'metadata'>) =>
  client.benchmarkJobs.create({ body })

/** Waits until the job has ended, or until `isReached`. */
export const followJob = async (
  client: Client,
  { id }: Pick<BenchmarkJob, 'id'>,
  {
    report,
    isReached = ({ state }) => hasJobEnded(state),
    signal,
  }: { report(progress: string): void; isReached?: (job: BenchmarkJob) => boolean; signal?: AbortSignal | undefined },
): Promise<BenchmarkJob> => {
  for (;;) {
    const job = await client.benchmarkJobs.get({ params: { id } })
    if (isReached(job)) return job
    const done = (job.benchmark_outcomes ?? []).reduce((sum, each) => sum + each.scenario_outcomes.length, 0)
    report(`${job.state}, ${done} ${done === 1 ? 'trial' : 'trials'} done`)
    await delay(pollMs, undefined, { signal })
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
    name: 'folders',
    asked: 'Make the folders ~/in and ~/out',
    check: '[ -d ~/in ] && [ -d ~/out ]',
    solved: 'mkdir ~/in ~/out',
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
  {
    name: 'letters',
    asked: 'Write the letters from z to a into ~/letters.txt, one a line',
    check: 'cmp -s ~/letters.txt <(printf "%s\\n" {z..a})',
    solved: 'printf "%s\\n" {z..a} > ~/letters.txt',
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
