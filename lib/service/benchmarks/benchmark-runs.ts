import { EventEmitter } from 'node:events'
import {
  type BenchmarkRun,
  type BenchmarkRunAction,
  type BenchmarkRunState,
  benchmarkRunRefusal,
} from '#lib/contract/benchmark-runs.ts'
import type { BenchmarkRunStart } from '#lib/contract/benchmarks.ts'
import { hasScenarioRunEnded } from '#lib/contract/scenario-runs.ts'
import { runScore } from '#lib/service/domain/benchmark-runs.ts'
import { mergeProfiles, requireNeeds } from '#lib/service/domain/run-profile.ts'
import { invalid, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import type { EndingEvent, ScenarioRuns } from './scenario-runs.ts'

interface Options {
  store: Pick<Stores, 'benchmarkRuns' | 'benchmarks' | 'scenarioRuns' | 'secrets'>
  scenarioRuns: ScenarioRuns
}

export class BenchmarkRuns {
  readonly changes = new EventEmitter().setMaxListeners(0)
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  get(account: string, id: string): BenchmarkRun {
    return this.#options.store.benchmarkRuns.get(account, id) ?? notFound('benchmark run', id)
  }

  start(account: string, body: BenchmarkRunStart): BenchmarkRun {
    const { store } = this.#options
    const benchmark = store.benchmarks.get(account, body.benchmark_id) ?? notFound('benchmark', body.benchmark_id)
    if (benchmark.status !== 'active')
      throw invalid({ field: 'benchmark_id', message: `benchmark ${benchmark.id} is archived and cannot run` })
    const profile = mergeProfiles({}, body.runProfile ?? {})
    requireNeeds(store.secrets, account, benchmark, profile)
    const id = newId('bmr')
    store.benchmarkRuns.insert({
      id,
      account,
      benchmark_id: benchmark.id,
      name: body.run_name || null,
      start_time_ms: Date.now(),
      metadata: body.metadata ?? {},
      profile,
      job_id: null,
      agent_index: null,
      agent: null,
    })
    return this.get(account, id)
  }

  /** Unspecified: completes scored scenario runs and cancels the others. Waits up to 5 s for their devboxes. */
  complete(account: string, id: string): Promise<BenchmarkRun> {
    return this.#end(account, id, 'complete')
  }

  /** Cancels unfinished scenario runs. Resolves when their devboxes are shut down, or after 5 s. Throws 404 or 409. */
  cancel(account: string, id: string): Promise<BenchmarkRun> {
    return this.#end(account, id, 'cancel')
  }

  async #end(account: string, id: string, action: BenchmarkRunAction): Promise<BenchmarkRun> {
    const run = this.#options.store.benchmarkRuns.own(account, id) ?? notFound('benchmark run', id)
    const reason = benchmarkRunRefusal(action, run.state)
    if (reason) throw new ServiceError('conflict', reason, { shouldRetry: false })
    if (action === 'complete' && run.job_id !== null)
      throw new ServiceError('conflict', 'The run belongs to a job, which completes it', { shouldRetry: false })
    const all = this.#options.store.scenarioRuns.ofBenchmarkRun(id)
    if (run.state === 'running')
      this.finish(id, action === 'complete' ? 'completed' : 'canceled', (state) =>
        action === 'complete' && state === 'scored' ? 'complete' : 'cancel',
      )
    await this.#options.scenarioRuns.released(all.map(({ id }) => id))
    return this.get(account, id)
  }

  /** Sets the final state and score in one transaction, then shuts down the devboxes of unfinished scenario runs. */
  finish(
    id: string,
    state: Exclude<BenchmarkRunState, 'running'>,
    eventFor: (state: string) => EndingEvent = () => 'cancel',
  ): void {
    const { store, scenarioRuns } = this.#options
    if (store.benchmarkRuns.record(id)?.state !== 'running') return
    const endings = store.scenarioRuns
      .ofBenchmarkRun(id)
      .filter(({ state }) => !hasScenarioRunEnded(state))
      .map((run) => ({ id: run.id, event: eventFor(run.state) }))
    scenarioRuns.endAll(endings, () => {
      const score = runScore(store.scenarioRuns.ofBenchmarkRun(id))
      store.benchmarkRuns.end(id, { state, end_time_ms: Date.now(), score })
    })
    this.changes.emit('state', id, state)
  }
}
