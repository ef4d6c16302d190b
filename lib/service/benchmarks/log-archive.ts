import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { StringMap } from '#lib/contract/common.ts'
import { hasScenarioRunEnded } from '#lib/contract/scenario-runs.ts'
import { durationOf, knownTime } from '#lib/service/domain/benchmark-runs.ts'
import { notFound } from '#lib/service/kit/errors.ts'
import { firstCharacter } from '#lib/service/kit/utf8.ts'
import type { BenchmarkJobStore, JobRecord } from '#lib/service/store/benchmark-jobs.ts'
import type { BenchmarkRunRecord, BenchmarkRunStore } from '#lib/service/store/benchmark-runs.ts'
import type { ScenarioRunRecord, ScenarioRunStore } from '#lib/service/store/scenario-runs.ts'
import type { SecretStore } from '#lib/service/store/secrets.ts'
import { filesBelow, type LogFile } from './log-files.ts'
import type { JobPlan } from './plan.ts'
import { createScrubber, type Scrubber } from './scrub.ts'
import { type ZipEntry, zip } from './zip.ts'

interface Options {
  folderOf: (scenarioRunId: string) => string
  devboxFolderOf: (devboxId: string) => string
  flush: () => Promise<void>
  store: {
    scenarioRuns: Pick<ScenarioRunStore, 'record' | 'ofBenchmarkRun'>
    benchmarkRuns: Pick<BenchmarkRunStore, 'record'>
    benchmarkJobs: Pick<BenchmarkJobStore, 'record'>
    secrets: Pick<SecretStore, 'reveal'>
  }
}

type Job = JobRecord<JobPlan>

/** Unspecified: the maximum number of files per scenario run. */
const maxFilesPerRun = 10_000

/** Zips of logs of scenario runs and their devboxes. Secrets of the run are masked. */
export class LogArchives {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** Without folders: the public CLI strips the run id from names. Throws a SealError if secrets can't be decrypted. */
  async ofScenarioRun(id: string): Promise<AsyncIterable<Uint8Array>> {
    const { store } = this.#options
    const run = store.scenarioRuns.record(id) ?? notFound('scenario run', id)
    const benchmarkRun = run.benchmark_run_id === null ? undefined : store.benchmarkRuns.record(run.benchmark_run_id)
    const job = this.#jobOf(benchmarkRun)
    const scrubber = this.#scrubber(run.account, [secretsOf(run), secretsOf(benchmarkRun), ...secretsOfJob(job)])
    await this.#options.flush()
    return zip(this.#entries(run, scrubber, (path) => `${run.id}_${cut(path.join('_'))}`))
  }

  async ofBenchmarkRun(id: string): Promise<AsyncIterable<Uint8Array>> {
    const { store } = this.#options
    const run = store.benchmarkRuns.record(id) ?? notFound('benchmark run', id)
    const runs = store.scenarioRuns.ofBenchmarkRun(id)
    const job = this.#jobOf(run)
    const scrubber = this.#scrubber(run.account, [secretsOf(run), ...secretsOfJob(job), ...runs.map(secretsOf)])
    await this.#options.flush()
    return zip(this.#all(run, runs, job, scrubber))
  }

  async *#all(
    run: BenchmarkRunRecord,
    runs: ScenarioRunRecord[],
    job: Job | undefined,
    scrubber: Scrubber,
  ): AsyncGenerator<ZipEntry> {
    yield toEntry(jsonFile('results.json', resultsOf(run, runs, job), timeOf(run)), 'results.json', scrubber)
    if (job) {
      const file = jobFile(job)
      yield toEntry(file, file.path.join('/'), scrubber)
    }
    const folders = new Names()
    const attempts = new Map<string, number>()
    for (const each of runs) {
      const counted = (attempts.get(each.scenario_id) ?? 0) + 1
      attempts.set(each.scenario_id, counted)
      const attempt = each.attempt === null ? counted : each.attempt + 1
      const folder = folders.take(`${safeFolder(scrubber.text(each.scenario_name))}__${attempt}`)
      yield* this.#entries(each, scrubber, ([first = '', ...rest]) =>
        [folder, `${each.id}_${first}`, ...rest].join('/'),
      )
    }
  }

  async *#entries(
    run: ScenarioRunRecord,
    scrubber: Scrubber,
    nameOf: (path: string[]) => string,
  ): AsyncGenerator<ZipEntry> {
    const names = new Names()
    const omitted: string[] = []
    const omit = (path: string[], reason: string) => {
      if (omitted.length < maxOmissions) omitted.push(`${path.join('/')}: ${reason}`)
    }
    let count = 0
    for await (const file of this.#files(run, omit)) {
      if (count++ === maxFilesPerRun) {
        omitted.push(`…: more than ${maxFilesPerRun} files`)
        break
      }
      yield toEntry(file, names.take(nameOf(file.path.map((part) => safePart(scrubber.text(part))))), scrubber)
    }
    if (omitted.length === 0) return
    const list = textFile('not-in-this-archive.txt', `${omitted.join('\n')}\n`, timeOf(run))
    yield toEntry(list, names.take(nameOf(list.path)), scrubber)
  }

  async *#files(run: ScenarioRunRecord, omit: (path: string[], reason: string) => void): AsyncGenerator<LogFile> {
    const { folderOf, devboxFolderOf } = this.#options
    yield jsonFile('results.json', resultOf(run), timeOf(run))
    const seen = new Set<string>()
    for await (const file of filesBelow(folderOf(run.id), omit)) {
      seen.add(file.path.join('/'))
      yield file
    }
    if (run.devbox_id === null) return
    const devbox = devboxFolderOf(run.devbox_id)
    // The saved logs of an ended Harbor trial are complete; those of other runs are still in the devbox.
    if (seen.has('result.json') && hasScenarioRunEnded(run.state)) return
    for await (const file of filesBelow(join(devbox, 'root', 'logs'), omit))
      if (!seen.has(file.path.join('/'))) yield file
    for (const folder of ['log', 'executions'])
      for await (const file of filesBelow(join(devbox, folder), (path, why) => omit(['devbox', ...path], why)))
        yield { ...file, path: ['devbox', folder, ...file.path] }
  }

  #jobOf(run: BenchmarkRunRecord | undefined): Job | undefined {
    return run?.job_id ? this.#options.store.benchmarkJobs.record<JobPlan>(run.job_id) : undefined
  }

  #scrubber(account: string, secrets: (StringMap | null | undefined)[]): Scrubber {
    const values = secrets.flatMap((each) => Object.values(this.#options.store.secrets.reveal(account, each ?? {})))
    return createScrubber([...new Set(values)])
  }
}

const maxOmissions = 1000

const secretsOf = (run: ScenarioRunRecord | BenchmarkRunRecord | undefined): StringMap => ({
  ...(run && 'agent' in run ? run.agent?.agent_environment?.secrets : undefined),
  ...run?.profile.secrets,
})

const secretsOfJob = (job: Job | undefined): StringMap[] => {
  const harbor = job?.plan.harbor
  return harbor ? [harbor.settings.verifier.env.secrets, harbor.settings.environment.env.secrets] : []
}

const jobFile = ({ name, source, spec, create_time_ms }: Job): LogFile =>
  source.inline_yaml
    ? textFile('job.yaml', source.inline_yaml, create_time_ms)
    : jsonFile('job.json', { name, job_source: source, job_spec: spec }, create_time_ms)

const resultOf = (run: ScenarioRunRecord) => ({
  scenario_run_id: run.id,
  scenario_id: run.scenario_id,
  scenario_name: run.scenario_name,
  ...(run.attempt !== null && { attempt: run.attempt + 1 }),
  ...(run.replaced && { replaced: true }),
  state: run.outcome ?? run.state,
  score: run.scoring_contract_result?.score ?? run.score,
  ...(run.rewards && { rewards: run.rewards }),
  start_time_ms: knownTime(run.start_time_ms),
  duration_ms: durationOf(run),
  ...(run.failure && { failure_reason: run.failure }),
  ...(run.scoring_contract_result && {
    scoring_functions: run.scoring_contract_result.scoring_function_results.map(
      ({ scoring_function_name, score, state, output }) => ({ name: scoring_function_name, score, state, output }),
    ),
  }),
})

const resultsOf = (run: BenchmarkRunRecord, runs: ScenarioRunRecord[], job: Job | undefined) => ({
  benchmark_run_id: run.id,
  name: run.name,
  ...(run.benchmark_id !== null && { benchmark_id: run.benchmark_id }),
  ...(run.job_id !== null && { job_id: run.job_id }),
  ...(run.agent && { agent_name: run.agent.name, model_name: run.agent.model_name ?? null }),
  ...(job?.judged_metric && { judged_metric: job.judged_metric }),
  ...(run.planned_trials !== null && { n_total_trials: run.planned_trials }),
  ...(job?.settings && { settings: job.settings }),
  state: run.state,
  score: run.score,
  start_time_ms: knownTime(run.start_time_ms),
  duration_ms: durationOf(run),
  scenario_runs: runs.map(resultOf),
})

/** Stable while the run does not change, so that the archive has the same bytes each time. */
const timeOf = (run: ScenarioRunRecord | BenchmarkRunRecord) =>
  Math.max(run.end_time_ms ?? run.start_time_ms, firstZipTime)
const firstZipTime = Date.UTC(1980, 0, 1)

const toEntry = ({ modifiedMs, content }: LogFile, name: string, scrubber: Scrubber): ZipEntry => ({
  name,
  modifiedMs,
  content: scrubber.bytes(content),
})

const jsonFile = (name: string, value: unknown, timeMs: number) =>
  textFile(name, `${JSON.stringify(value, null, 2)}\n`, timeMs)

const textFile = (name: string, text: string, modifiedMs: number): LogFile => ({
  path: [name],
  modifiedMs,
  content: Readable.from([Buffer.from(text)]),
})

class Names {
  readonly #taken = new Map<string, number>()

  take(name: string): string {
    let free = name
    let number = this.#taken.get(name) ?? 1
    while (this.#taken.has(free)) free = `${name}-${++number}`
    this.#taken.set(name, number)
    if (free !== name) this.#taken.set(free, 1)
    return free
  }
}

const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}/\\]/gu

const safePart = (part: string): string => {
  const safe = part.replace(unsafe, '_')
  return safe === '.' || safe === '..' ? '_' : safe
}

/** A scenario's name may be any text; a folder name must be valid on every file system. */
const safeFolder = (name: string): string =>
  cut(
    safePart(name.toWellFormed())
      .replace(/[:*?"<>|]/g, '_')
      .replace(/^[. ]+|[. ]+$/g, '_'),
  ) || '_'

// File systems allow 255 bytes; the id and a number are added.
const maxNameBytes = 180

/** Keeps the end, where file names differ. */
const cut = (text: string): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxNameBytes) return text
  const end = bytes.subarray(bytes.length - maxNameBytes)
  return end.toString('utf8', firstCharacter(end))
}
