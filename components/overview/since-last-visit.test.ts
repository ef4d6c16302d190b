import { expect, it } from 'vitest'
import { endedSince, failedSince } from './since-last-visit.ts'

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

it('tells of devboxes that failed since, and of none that only ended', () => {
  const devboxes = [devbox('failure', 100), devbox('shutdown', 200), devbox('failure', 10)]
  expect(failedSince(devboxes, { ms: 50 }, 0)).toEqual([devboxes[0]])
  expect(failedSince(devboxes, null, dayMs + 50)).toEqual([devboxes[0]])
})

it('tells of jobs that went on until after the last visit, and not of those that still do', () => {
  const jobs = [job('completed', 0, 100), job('failed', 0, 10), job('running', 0, 100)]
  expect(endedSince(jobs, { ms: 50 }, 0)).toEqual([jobs[0]])
})

it('puts jobs that failed before those that completed, each newest first', () => {
  const jobs = [job('completed', 90, 0), job('failed', 80, 0), job('completed', 70, 0), job('timeout', 60, 0)]
  expect(endedSince(jobs, { ms: 50 }, 0)).toEqual([jobs[1], jobs[3], jobs[0], jobs[2]])
})
