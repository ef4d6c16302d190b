import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sharedDocker, type TestDocker } from '#lib/service/testing/docker.ts'
import { type EngineLine, openEngineLine } from '#lib/service/testing/engine-line.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import { agent, createJob, makeScenarios } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

describe.skipIf(!hasDocker)('deleting', () => {
  let docker: TestDocker
  let line: EngineLine
  let service: TestService

  beforeEach(async () => {
    docker = await sharedDocker()
    line = await openEngineLine(docker.folder)
    service = await startService({ isolation: 'container', engine: line.url, image: await docker.image('base') })
  })
  afterEach(async () => {
    await service.close()
    await line.close()
  })

  const deleteEnded = ({ jobs = [], devboxes = [] }: { jobs?: string[]; devboxes?: string[] }) =>
    service.client.storage.deleteEnded({ body: { benchmark_jobs: jobs, devboxes } })
  const containers = () => {
    const filters = { label: [`devdeck.service=${service.serviceId}`] }
    return docker.api.json('GET', '/containers/json', { query: { all: true, filters } })
  }

  it('waits for a devbox that is shutting down', async () => {
    const id = await service.devbox()
    const stop = line.hold(/^POST \/containers\/\w+\/stop/, 'request')
    const shutdown = service.client.devboxes.shutdown({ params: { id } }).catch(() => undefined)
    await stop.held
    const deleted = deleteEnded({ devboxes: [id] })
    await deleteEnded({})
    stop.release()
    expect(await deleted).toMatchObject({ devboxes: 1 })
    await shutdown
    expect(await containers()).toEqual([])
  })

  it('waits for the trials of a canceled job', async () => {
    const { client } = service
    const scenario_ids = await makeScenarios(client, 1)
    const ping = line.hold(/^GET \/_ping/, 'request')
    const { id } = await createJob(client, { type: 'scenarios', scenario_ids, agent_configs: [agent('a', 'true')] })
    await ping.held
    expect(await client.benchmarkJobs.cancel({ params: { id } })).toMatchObject({ state: 'cancelled' })
    const deleted = deleteEnded({ jobs: [id] })
    await deleteEnded({})
    ping.release()
    expect(await deleted).toMatchObject({ benchmark_jobs: 1 })
    const devboxes = async () => (await client.devboxes.list({ query: {} })).devboxes
    await expect.poll(devboxes).toMatchObject([{ status: 'shutdown' }])
    for (const { id } of await devboxes()) await client.devboxes.shutdown({ params: { id } })
    expect(await containers()).toEqual([])
  })
})
