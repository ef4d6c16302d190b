import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sharedDocker, type TestDocker } from '#lib/service/testing/docker.ts'
import { type EngineLine, openEngineLine } from '#lib/service/testing/engine-line.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import { startService, statusOf, type TestService } from '#lib/service/testing/service.ts'

describe.skipIf(!hasDocker)('while a container engine responds late', () => {
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

  it('a devbox that kept running stops if it is suspended before the service has continued it', async () => {
    const id = await service.devbox()
    const found = line.hold(/^GET \/containers\/devdeck-[^/]+\/json/, 'response')
    await service.restart()
    await found.held
    await service.client.devboxes.suspend({ params: { id } })
    found.release()
    await service.reach(id, 'suspended')
    const filters = { label: [`devdeck.devbox=${id}`] }
    const containers = await docker.api.json('GET', '/containers/json', { query: { all: true, filters } })
    expect(containers).toMatchObject([{ State: 'exited' }])
  })

  it('a devbox is not created if its blueprint is deleted first', async () => {
    const { blueprints, devboxes } = service.client
    const { id } = await blueprints.create({ body: { name: 'late', dockerfile: 'FROM base\nRUN touch /built' } })
    await expect.poll(async () => (await blueprints.get({ params: { id } })).status).toBe('build_complete')
    const ping = line.hold(/^GET \/_ping/, 'request')
    const created = devboxes.create({ body: { blueprint_id: id } })
    const status = statusOf(created)
    await ping.held
    await blueprints.delete({ params: { id } })
    ping.release()
    expect(await status).toBe(404)
  })

  it('a devbox that kept running stops once the engine is back, if it was suspended before', async () => {
    const id = await service.devbox()
    line.cut({ stays: true })
    await service.restart()
    await service.client.devboxes.suspend({ params: { id } })
    await service.reach(id, 'suspended')
    line.restore()
    const filters = { label: [`devdeck.devbox=${id}`] }
    const containers = () => docker.api.json('GET', '/containers/json', { query: { all: true, filters } })
    await expect.poll(containers, { timeout: 10_000 }).toMatchObject([{ State: 'exited' }])
  })
})
