import { expect, it } from 'vitest'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { expectedAverages, killJob } from '#lib/service/testing/job-kill.ts'

// A short form of `npm run bench -- jobs`.
it.runIf(strongestIsolation === 'bubblewrap')('a job stays correct when its service is killed', async () => {
  const { job, trials, records, devboxes } = await killJob({ scenarios: 4, attempts: 1, concurrency: 3, everyMs: 20 })
  expect(trials).toBe(16)
  expect(records).toBeGreaterThan(0)
  expect(job.state).toBe('completed')
  expect(job.benchmark_outcomes?.map(({ average_score }) => average_score)).toEqual(expectedAverages)
  expect(devboxes).toBe(0)
})
