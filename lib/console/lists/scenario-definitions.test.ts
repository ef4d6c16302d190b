import { expect, it } from 'vitest'
import { makeScenario, script } from '#lib/service/testing/scenarios.ts'
import { startService } from '#lib/service/testing/service.ts'
import { readDefinitions, readMetadataKeys } from './scenario-definitions.ts'

it('reads names and metadata of the scenarios of a job, and leaves out what the service does not list', async () => {
  const service = await startService()
  const make = (name: string, repo: string) => makeScenario(service, script('echo'), { name, metadata: { repo } })
  try {
    const [one, two] = [await make('one', 'django'), await make('two', 'flask')]
    await make('of another job', 'numpy')
    const { signal } = new AbortController()
    expect(await readDefinitions([one, two, 'scn_gone'], { signal }, service.client)).toEqual({
      [one]: { name: 'one', metadata: { repo: 'django' } },
      [two]: { name: 'two', metadata: { repo: 'flask' } },
    })
    expect(await readMetadataKeys(signal, service.client)).toEqual(['repo'])

    const { id } = await service.client.benchmarks.create({ body: { name: 'flasks', scenario_ids: [two] } })
    expect(Object.keys(await readDefinitions([one, two], { benchmark_id: id, signal }, service.client))).toEqual([two])
  } finally {
    await service.close()
  }
})
