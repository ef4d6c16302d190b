import { expect, it } from 'vitest'
import { startService } from '#lib/service/testing/service.ts'
import { importedJob } from './imported-job.ts'

it('is imported whole, with nothing to warn of', async () => {
  const service = await startService()
  try {
    const file = await importedJob('demo-1-elsewhere')
    const imported = await service.client.benchmarkJobs.import({ body: {}, file })
    expect(imported).toMatchObject({ name: 'demo-1-elsewhere', n_trials: 24, warnings: [] })
    const job = await service.client.benchmarkJobs.get({ params: { id: imported.job_id } })
    expect(job.state).toBe('completed')
    expect(job.job_source?.type).toBe('imported')
    expect(
      job.benchmark_outcomes?.map(({ agent_name, model_name, n_completed, n_timeout }) => [
        ...[agent_name, model_name],
        ...[n_completed, n_timeout],
      ]),
    ).toEqual([
      ['terminus-2', 'acme/large', 11, 1],
      ['terminus-2', 'acme/small', 11, 1],
    ])
  } finally {
    await service.close()
  }
})
