import { type ExportFields, timeField } from '#lib/browser/lists/export.ts'
import type { BenchmarkRun } from '#lib/contract/benchmark-runs.ts'
import type { RunOrigin } from '../run/queries.ts'

/** What stands in a file for each column of the list of runs. */
export const runFields = (originOf: (run: BenchmarkRun) => RunOrigin | null): ExportFields<BenchmarkRun> => ({
  name: { name: 'name', value: ({ name }) => name },
  agent: [
    { name: 'agent_name', value: (run) => originOf(run)?.agent_name },
    { name: 'model_name', value: (run) => originOf(run)?.model_name },
  ],
  job: [
    { name: 'job_id', value: (run) => originOf(run)?.job_id },
    { name: 'job_name', value: (run) => originOf(run)?.job_name },
  ],
  state: { name: 'state', value: ({ state }) => state },
  score: [
    { name: 'score', value: ({ score }) => score },
    // What the score was divided by.
    { name: 'n_scenario_runs', value: (run) => run.n_scenario_runs ?? originOf(run)?.outcomes },
  ],
  metadata: { name: 'metadata', value: ({ metadata }) => metadata },
  duration: { name: 'duration_ms', value: ({ duration_ms }) => duration_ms },
  started: timeField('start_time_ms', ({ start_time_ms }) => start_time_ms),
  id: { name: 'id', value: ({ id }) => id },
})
