import { expect, it } from 'vitest'
import { failedDevboxes, failedJobs } from './last-visit.ts'

const dayMs = 24 * 3_600_000
const devbox = (status: string, end_time_ms: number) => ({
  id: status,
  name: null,
  status,
  create_time_ms: 0,
  end_time_ms,
})
const job = (state: string, create_time_ms: number, duration_ms: number) => ({
  id: state,
  name: 'nightly',
  state,
  create_time_ms,
  benchmark_outcomes: [
    {
      benchmark_run_id: 'run',
      agent_name: 'a',
      n_completed: 1,
      n_failed: 0,
      n_timeout: 0,
      duration_ms,
      scenario_outcomes: [],
    },
  ],
})

it('lists devboxes that failed since the last visit, not those that ended normally', () => {
  const devboxes = [devbox('failure', 100), devbox('shutdown', 200), devbox('failure', 10)]
  expect(failedDevboxes(devboxes, { ms: 50 }, 0)).toEqual([devboxes[0]])
  expect(failedDevboxes(devboxes, null, dayMs + 50)).toEqual([devboxes[0]])
})

it('lists jobs that failed or timed out since the last visit', () => {
  const states = ['completed', 'failed', 'timeout', 'cancelled', 'incomplete', 'running', 'paused']
  const jobs = states.map((state) => job(state, 0, 100))
  expect(failedJobs(jobs, { ms: 50 }, 0)).toEqual([jobs[1], jobs[2]])
  expect(failedJobs([job('failed', 0, 10)], { ms: 50 }, 0)).toEqual([])
})
