import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { newId } from '#lib/service/kit/ids.ts'
import { createBenchmarkRunStore } from './benchmark-runs.ts'
import { openDatabase } from './database.ts'
import { createScenarioRunStore } from './scenario-runs.ts'

it('explains unknown usage with the most common reason', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-runs-'))
  const database = openDatabase(join(folder, 'devdeck.db'))
  // The job and scenario are irrelevant here.
  database.exec('PRAGMA foreign_keys = OFF')
  const [runs, scenarioRuns] = [createBenchmarkRunStore(database), createScenarioRunStore(database)]
  const of = { account: 'a', name: null, start_time_ms: 0, metadata: {}, profile: {} }
  const id = newId('bmr')
  runs.insert({
    ...of,
    id,
    benchmark_id: null,
    job_id: 'bmj_1',
    agent_index: 0,
    agent: { name: 'x', type: 'job_agent' },
  })
  const reasons = ['it was never set up', 'the agent left nothing', 'the agent left nothing', null]
  const ids = reasons.map((unknown_because, attempt) => {
    const scenarioRunId = newId('scr')
    scenarioRuns.insertEnded({
      ...of,
      id: scenarioRunId,
      scenario_id: 'scn_1',
      scenario_name: 'one',
      benchmark_run_id: null,
      devbox_id: null,
      end_time_ms: 1,
      state: 'completed',
      score: 1,
      scoring_contract_result: null,
      rewards: null,
      outcome: 'COMPLETED',
      failure: null,
      warnings: null,
      environment_differs: false,
      agent_record: unknown_because === null ? null : { version: null, usage: { unknown_because }, trajectories: [] },
      attempt,
      retry: 0,
      replaced: true,
    })
    return scenarioRunId
  })
  scenarioRuns.adopt(id, ids)
  expect(runs.get('a', id)).toMatchObject({
    n_scenario_runs: 4,
    usage: { n_with_tokens: 0, cost_usd: null, unknown_because: 'the agent left nothing' },
  })
  database.close()
  rmSync(folder, { recursive: true })
})
