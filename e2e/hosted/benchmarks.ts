import { ZipFile } from 'yazl'
import { type Call, compact, Failure, type Json, newId, page, type Routes } from './http.ts'

export const benchmarkRoutes = () => {
  const scenarios = new Map<string, Json>()
  const benchmarks = new Map<string, Json>()
  const jobs = new Map<string, Json & { state: string }>()
  const runs = new Map<string, Json>()
  const scenarioRuns = new Map<string, Json>()

  const from = (records: Map<string, Json>, id = '', noun = 'Record'): Json => {
    const found = records.get(id)
    if (!found) throw new Failure(404, `${noun} not found`)
    return found
  }
  const newest = (records: Map<string, Json>) => [...records.values()].reverse()
  const matching = (rows: Json[], query: URLSearchParams, fields: readonly string[]) => {
    const search = query.get('search')
    return rows.filter(
      (row) =>
        fields.every((field) => !query.get(field) || String(row[field] ?? '').startsWith(query.get(field) ?? '')) &&
        (!search || `${row.id} ${row.name ?? ''}`.includes(search)),
    )
  }
  const keep = <T extends Json>(records: Map<string, Json>, record: T): T => {
    records.set(String(record.id), record)
    return record
  }

  const createScenario = (body: Json) =>
    keep(scenarios, compact({ id: newId(), metadata: {}, status: 'active', difficulty_v2: 'spicy', ...body }))
  const createBenchmark = ({ scenario_ids = [], ...body }: Json) =>
    keep(benchmarks, compact({ id: newId(), metadata: {}, status: 'active', scenarioIds: scenario_ids, ...body }))
  const startRun = ({ benchmark_id, run_name, metadata, runProfile }: Json) =>
    keep(
      runs,
      compact({
        id: newId(),
        benchmark_id,
        name: run_name,
        metadata: metadata ?? {},
        purpose: (runProfile as Json | undefined)?.purpose,
        state: 'running',
        start_time_ms: Date.now(),
        billing_class: 'spot',
      }),
    )
  const startScenario = ({ scenario_id, benchmark_run_id, run_name, metadata }: Json, more: Json = {}) =>
    keep(
      scenarioRuns,
      compact({
        id: newId(),
        devbox_id: newId(),
        scenario_id,
        benchmark_run_id,
        name: run_name,
        metadata: metadata ?? {},
        state: 'running',
        start_time_ms: Date.now(),
        attempt_class: 'alpha',
        ...more,
      }),
    )
  const createJob = ({ name, spec = {}, metadata }: Json, agents?: Json[]) => {
    const { type, ...source } = spec as Json
    const ids = (source.scenario_ids ??
      from(benchmarks, String(source.benchmark_id ?? ''), 'Benchmark').scenarioIds) as string[]
    const configs = agents ?? (source.agent_configs as Json[]) ?? []
    const { agent_configs: _, orchestrator_config, ...rest } = source
    return keep(
      jobs,
      compact({
        id: newId(),
        name: name ?? 'unnamed job',
        create_time_ms: Date.now(),
        state: 'running',
        metadata,
        job_source: { type, ...rest },
        job_spec: compact({ scenario_ids: ids, agent_configs: configs, orchestrator_config }),
        in_progress_runs: configs.map((agent_config) => {
          const run = startRun({ run_name: agent_config.name })
          startScenario({ scenario_id: ids[0], benchmark_run_id: run.id })
          return { benchmark_run_id: run.id, start_time_ms: Date.now(), state: 'running', agent_config, pool: 7 }
        }),
        scheduler: { tier: 'gold' },
      }) as Json & { state: string },
    )
  }
  const cancelRun = (id: string | undefined) => {
    const run = from(runs, id, 'Benchmark run')
    if (run.state === 'running') Object.assign(run, { state: 'canceled', duration_ms: 1234 })
    for (const each of scenarioRuns.values())
      if (each.benchmark_run_id === id && each.state === 'running') each.state = 'canceled'
    for (const job of jobs.values()) {
      const progress = (job.in_progress_runs ?? []) as Json[]
      for (const each of progress) if (each.benchmark_run_id === id) each.state = 'canceled'
      if (job.state === 'running' && progress.every(({ state }) => state === 'canceled')) job.state = 'cancelled'
    }
    return run
  }
  const sendLogs = ({ response }: Call, name: string) => {
    const zip = new ZipFile()
    zip.addBuffer(Buffer.from('trial started\nwarning: slow disk\ntrial ended\n'), `${name}_agent.log`)
    zip.addBuffer(Buffer.from('{"reward": 1}'), `${name}_verifier/result.json`)
    zip.end()
    response.writeHead(200, { 'content-type': 'application/zip' })
    zip.outputStream.pipe(response)
  }

  const runRoutes = (base: string): Routes => ({
    [`GET ${base}`]: ({ query }) =>
      page('runs', matching(newest(runs), query, ['benchmark_id', 'name', 'state']), query),
    [`GET ${base}/*`]: ({ at: [id] }) => from(runs, id, 'Benchmark run'),
    [`POST ${base}/*/cancel`]: ({ at: [id] }) => cancelRun(id),
    [`POST ${base}/*/complete`]: ({ at: [id] }) =>
      Object.assign(from(runs, id, 'Benchmark run'), { state: 'completed' }),
    [`GET ${base}/*/scenario_runs`]: ({ at: [id], query }) => {
      from(runs, id, 'Benchmark run')
      const rows = newest(scenarioRuns).filter((each) => each.benchmark_run_id === id)
      return page('runs', matching(rows, query, ['state']), query)
    },
    [`POST ${base}/*/download_logs`]: (call) => sendLogs(call, String(from(runs, call.at[0], 'Benchmark run').id)),
  })

  const routes: Routes = {
    'GET /v1/benchmarks': ({ query }) => page('benchmarks', matching(newest(benchmarks), query, ['name']), query),
    'GET /v1/benchmarks/list_public': ({ query }) => page('benchmarks', [], query),
    'POST /v1/benchmarks': ({ body }) => createBenchmark(body),
    'POST /v1/benchmarks/start_run': ({ body }) => startRun(body),
    'GET /v1/benchmarks/*': ({ at: [id] }) => from(benchmarks, id, 'Benchmark'),
    'POST /v1/benchmarks/*': ({ at: [id], body }) => Object.assign(from(benchmarks, id, 'Benchmark'), compact(body)),
    'GET /v1/benchmarks/*/definitions': ({ at: [id], query }) => {
      const ids = from(benchmarks, id, 'Benchmark').scenarioIds as string[]
      return page(
        'scenarios',
        ids.map((each) => from(scenarios, each, 'Scenario')),
        query,
      )
    },
    ...runRoutes('/v1/benchmark_runs'),
    'POST /v1/benchmarks/runs/*/cancel': ({ at: [id] }) => cancelRun(id),
    'GET /v1/benchmark_jobs': ({ query }) => page('jobs', matching(newest(jobs), query, ['name']), query),
    'POST /v1/benchmark_jobs': ({ body }) => createJob(body),
    'GET /v1/benchmark_jobs/*': ({ at: [id] }) => from(jobs, id, 'Benchmark job'),
    'GET /v1/scenarios': ({ query }) => page('scenarios', matching(newest(scenarios), query, ['name']), query),
    'GET /v1/scenarios/list_public': ({ query }) => page('scenarios', [], query),
    'POST /v1/scenarios': ({ body }) => createScenario(body),
    'GET /v1/scenarios/*': ({ at: [id] }) => from(scenarios, id, 'Scenario'),
    'POST /v1/scenarios/*': ({ at: [id], body }) => Object.assign(from(scenarios, id, 'Scenario'), compact(body)),
    'POST /v1/scenarios/start_run': ({ body }) => startScenario(body),
    'GET /v1/scenarios/scorers': ({ query }) => page('scorers', [], query),
    'GET /v1/scenarios/runs': ({ query }) =>
      page('runs', matching(newest(scenarioRuns), query, ['benchmark_run_id', 'scenario_id', 'name', 'state']), query),
    'GET /v1/scenarios/runs/*': ({ at: [id] }) => from(scenarioRuns, id, 'Scenario run'),
    'POST /v1/scenarios/runs/*/cancel': ({ at: [id] }) =>
      Object.assign(from(scenarioRuns, id, 'Scenario run'), { state: 'canceled' }),
    'POST /v1/scenarios/runs/*/complete': ({ at: [id] }) =>
      Object.assign(from(scenarioRuns, id, 'Scenario run'), { state: 'completed' }),
    'POST /v1/scenarios/runs/*/score': ({ at: [id] }) =>
      Object.assign(from(scenarioRuns, id, 'Scenario run'), { state: 'scored' }),
    'POST /v1/scenarios/runs/*/download_logs': (call) =>
      sendLogs(call, String(from(scenarioRuns, call.at[0], 'Scenario run').id)),
  }

  const seed = () => {
    const ids = Array.from({ length: 6 }, (_, i) =>
      String(
        createScenario({
          name: `suite__task-${i}`,
          input_context: { problem_statement: `Fix bug ${i}` },
          scoring_contract: {
            scoring_function_parameters: [
              {
                name: 'tests',
                weight: 1,
                scorer: i === 0 ? { type: 'oracle_scorer', model: 'x' } : { type: 'command_scorer', command: 'true' },
              },
            ],
          },
        }).id,
      ),
    )
    const benchmark = createBenchmark({ name: 'nightly suite', scenario_ids: ids })
    createBenchmark({ name: 'frozen suite', scenario_ids: ids.slice(0, 2), status: 'embargoed' })
    const agents = ['careful', 'hasty'].map((name) => ({ name, type: 'job_agent', model_name: `${name}-1` }))
    const finish = (job: Json, scores: readonly (number | null)[], state = 'completed') => {
      const progress = job.in_progress_runs as Json[]
      job.state = state
      delete job.in_progress_runs
      job.benchmark_outcomes = progress.map(({ benchmark_run_id, agent_config }, agentAt) => {
        const outcomes = ids.map((id, at) => {
          const score = scores[(at + agentAt) % scores.length] ?? null
          const run = startScenario(
            { scenario_id: id, benchmark_run_id },
            compact({
              state: score === null ? 'failed' : 'scored',
              duration_ms: 4000 + at * 100,
              scoring_contract_result:
                score === null
                  ? undefined
                  : {
                      score,
                      scoring_function_results: [
                        { scoring_function_name: 'tests', score, output: 'ok', state: 'complete' },
                      ],
                    },
            }),
          )
          return compact({
            scenario_definition_id: id,
            scenario_name: `suite__task-${at}`,
            scenario_run_id: run.id,
            state: score === null ? (at % 2 ? 'FAILED' : 'PREEMPTED') : 'COMPLETED',
            score,
            duration_ms: 4000,
            failure_reason:
              score === null ? { exception_type: 'HostLost', exception_message: 'The host went away' } : undefined,
          })
        })
        Object.assign(from(runs, String(benchmark_run_id), 'Benchmark run'), {
          state: 'completed',
          duration_ms: 60_000,
          score: 0.5,
        })
        return compact({
          benchmark_run_id,
          agent_name: (agent_config as Json).name,
          model_name: (agent_config as Json).model_name,
          n_completed: outcomes.filter(({ state }) => state === 'COMPLETED').length,
          n_failed: outcomes.filter(({ state }) => state !== 'COMPLETED').length,
          n_timeout: 0,
          average_score: 0.5,
          duration_ms: 60_000,
          scenario_outcomes: outcomes,
        })
      })
    }
    const spec = { type: 'benchmark', benchmark_id: benchmark.id, agent_configs: agents }
    finish(createJob({ name: 'before', spec }), [1, 0, 1, 0.5])
    finish(createJob({ name: 'after', spec }), [1, 1, null, 0.5])
    finish(
      createJob({ name: 'odd', spec: { type: 'scenarios', scenario_ids: ids, agent_configs: agents } }),
      [0],
      'quarantined',
    )
    createJob({ name: 'in progress', spec: { ...spec, orchestrator_config: { n_concurrent_trials: 3 } } })
    keep(jobs, { id: newId(), name: 'bare', create_time_ms: Date.now(), state: 'initializing' } as Json)
    for (let i = 0; i < 9; i++) startRun({ benchmark_id: benchmark.id, run_name: i % 2 ? `manual ${i}` : undefined })
  }
  return { routes, seed }
}
