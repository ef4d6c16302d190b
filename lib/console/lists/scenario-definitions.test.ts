import { expect, it } from 'vitest'
import { makeScenario, script } from '#lib/service/testing/scenarios.ts'
import { startService } from '#lib/service/testing/service.ts'
import { readDefinitions } from './scenario-definitions.ts'

it('reads names and metadata of the scenarios of a job, and leaves out what the service does not list', async () => {
  const service = await startService()
  const make = (name: string, repo: string) => makeScenario(service, script('echo'), { name, metadata: { repo } })
  try {
    const [one, two] = [await make('one', 'django'), await make('two', 'flask')]
    await make('of another job', 'numpy')
    const agent = { name: 'solver', type: 'job_agent', kwargs: { command: 'true' } }
    const { id } = await service.client.benchmarkJobs.create({
      body: { spec: { type: 'scenarios', scenario_ids: [one, two], agent_configs: [agent] } },
    })
    const { signal } = new AbortController()
    expect(await readDefinitions(id, [one, two, 'scn_gone'], signal, service.client)).toEqual({
      [one]: { name: 'one', metadata: { repo: 'django' } },
      [two]: { name: 'two', metadata: { repo: 'flask' } },
    })
    await service.client.benchmarkJobs.cancel({ params: { id } })
  } finally {
    await service.close()
  }
})
