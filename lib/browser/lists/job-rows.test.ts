import { expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { JobListView, jobListPath, jobQueryOf } from '../address/job-list-view.ts'
import { jobsShownBy } from './job-rows.ts'

const now = Date.UTC(2026, 10, 22, 12)
const job = (id: string, more: Partial<BenchmarkJob>): BenchmarkJob => ({
  id,
  name: id,
  state: 'completed',
  create_time_ms: now,
  ...more,
})
const jobs = [
  job('harbor', { job_source: { type: 'harbor' }, create_time_ms: now - 30 * 60_000 }),
  job('running', {
    state: 'running',
    job_source: { type: 'scenarios' },
    create_time_ms: now - 5 * 3_600_000,
    in_progress_runs: [
      {
        benchmark_run_id: 'bmr_1',
        state: 'running',
        start_time_ms: now,
        agent_config: { type: 'job_agent', name: 'Solver', model_name: 'vendor/large' },
      },
    ],
  }),
  // A hosted service may tell as little as this.
  job('bare', { create_time_ms: now - 40 * 24 * 3_600_000 }),
]
const shown = (view: Parameters<typeof jobsShownBy>[0]) => jobs.filter(jobsShownBy(view, now)).map(({ id }) => id)

it('shows all jobs without filters, and those that match every filter', () => {
  expect(shown({})).toEqual(['harbor', 'running', 'bare'])
  expect(shown({ state: 'completed' })).toEqual(['harbor', 'bare'])
  expect(shown({ source: 'scenarios' })).toEqual(['running'])
  expect(shown({ state: 'completed', source: 'scenarios' })).toEqual([])
})

it('finds an agent by part of its name or model, in any case', () => {
  expect(shown({ agent: 'solv' })).toEqual(['running'])
  expect(shown({ agent: 'VENDOR/' })).toEqual(['running'])
  expect(shown({ agent: 'nobody' })).toEqual([])
})

it('shows what was created lately', () => {
  expect(shown({ created: '1h' })).toEqual(['harbor'])
  expect(shown({ created: '24h' })).toEqual(['harbor', 'running'])
  expect(shown({ created: '30d' })).toEqual(['harbor', 'running'])
})

it('keeps the filters in the address, and asks the service for its own part', () => {
  const view = JobListView.parse({ name: 'x', state: 'running', agent: 'solv' })
  expect(jobListPath(view)).toBe('/benchmark-jobs?name=x&state=running&agent=solv')
  expect(jobQueryOf(view)).toEqual({ name: 'x', limit: view.limit, include_total_count: true })
})
