import { expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { JobSearchParams, jobFilter, jobQueryOf, jobsPath } from './job-search-params.ts'

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
  // A hosted service may report no more than this.
  job('bare', { create_time_ms: now - 40 * 24 * 3_600_000 }),
]

it.each<[Parameters<typeof jobFilter>[0], string[]]>([
  [{}, ['harbor', 'running', 'bare']],
  [{ state: 'completed' }, ['harbor', 'bare']],
  [{ source: 'scenarios' }, ['running']],
  [{ state: 'completed', source: 'scenarios' }, []],
  [{ agent: 'solv' }, ['running']],
  [{ agent: 'VENDOR/' }, ['running']],
  [{ created: '1h' }, ['harbor']],
  [{ created: '30d' }, ['harbor', 'running']],
])('%j', (params, ids) => expect(jobs.filter(jobFilter(params, now)).map(({ id }) => id)).toEqual(ids))

it('keeps all filters in the address and sends the API its own', () => {
  const params = JobSearchParams.parse({ name: 'x', state: 'running', agent: 'solv' })
  expect(jobsPath(params)).toBe('/benchmark-jobs?name=x&state=running&agent=solv')
  expect(jobQueryOf({ ...params, sort: '-agents' })).toEqual({ name: 'x', limit: 100, include_total_count: true })
  expect(jobQueryOf(params)).toEqual({ name: 'x', limit: params.limit, include_total_count: true })
})
