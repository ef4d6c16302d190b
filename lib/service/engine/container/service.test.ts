import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasDocker, sharedDocker, type TestDocker } from '#lib/service/testing/docker.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

describe.skipIf(!hasDocker)('a service with a container engine', () => {
  let docker: TestDocker
  let service: TestService
  beforeAll(async () => {
    docker = await sharedDocker()
    service = await startService({ isolation: 'container', engine: docker.url, image: await docker.image('base') })
  })
  afterAll(() => service?.close())

  it('runs a devbox through its whole life', async () => {
    const { client } = service
    const id = await service.devbox({ file_mounts: { 'from/mount': 'mounted' }, environment_variables: { A: 'b' } })
    expect(await client.devboxes.get({ params: { id } })).toMatchObject({ isolation: { sandbox: 'container' } })
    expect(await service.run(id, 'cat ~/from/mount; echo " $A $(id -u)"; echo kept >~/kept; exit 3')).toMatchObject({
      stdout: 'mounted b 1000\n',
      exit_status: 3,
    })
    await client.devboxes.suspend({ params: { id } })
    await service.reach(id, 'suspended')
    await client.devboxes.resume({ params: { id } })
    await service.reach(id, 'running')
    expect((await service.run(id, 'cat ~/kept')).stdout).toBe('kept\n')
    await service.restart()
    await service.reach(id, 'running')
    expect((await service.run(id, 'cat ~/kept')).stdout).toBe('kept\n')
    const snapshot = await client.snapshots.create({ params: { id }, body: {} })
    const copy = await service.devbox({ snapshot_id: snapshot.id })
    expect((await service.run(copy, 'cat ~/kept')).stdout).toBe('kept\n')
    for (const each of [id, copy]) await client.devboxes.shutdown({ params: { id: each } })
    await client.snapshots.delete({ params: { id: snapshot.id } })
    const query = { all: true, filters: { label: [`devdeck.service=${service.serviceId}`] } }
    expect(await docker.api.json('GET', '/containers/json', { query })).toEqual([])
    expect(await docker.api.json('GET', '/images/json', { query })).toEqual([])
  })
})
