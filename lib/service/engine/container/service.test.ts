import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownDocker, sharedDocker, type TestDocker } from '#lib/service/testing/docker.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
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
    // Not ready until the service has taken it over.
    const kept = () => service.run(id, 'cat ~/kept').catch((error: Error) => error.message)
    await expect.poll(kept, { timeout: 20_000 }).toMatchObject({ stdout: 'kept\n' })
    const snapshot = await client.snapshots.create({ params: { id }, body: {} })
    const copy = await service.devbox({ snapshot_id: snapshot.id })
    expect((await service.run(copy, 'cat ~/kept')).stdout).toBe('kept\n')
    for (const each of [id, copy]) await client.devboxes.shutdown({ params: { id: each } })
    await client.snapshots.delete({ params: { id: snapshot.id } })
    const query = { all: true, filters: { label: [`devdeck.service=${service.serviceId}`] } }
    expect(await docker.api.json('GET', '/containers/json', { query })).toEqual([])
    expect(await docker.api.json('GET', '/images/json', { query })).toEqual([])
  })

  it('keeps the data of a deleted snapshot until the last devbox that started from it is shut down', async () => {
    const { client } = service
    const source = await service.devbox()
    await service.run(source, 'echo first >~/first')
    const first = await client.snapshots.create({ params: { id: source }, body: {} })
    const copy = await service.devbox({ snapshot_id: first.id })
    await client.devboxes.suspend({ params: { id: copy } })
    await service.reach(copy, 'suspended')
    await client.snapshots.delete({ params: { id: first.id } })
    expect((await service.post('/v1/devboxes', { snapshot_id: first.id })).status).toBe(404)
    await client.devboxes.resume({ params: { id: copy } })
    await service.reach(copy, 'running')
    await service.run(copy, 'echo second >~/second')
    const second = await client.snapshots.create({ params: { id: copy }, body: {} })
    const last = await service.devbox({ snapshot_id: second.id })
    expect((await service.run(last, 'cat ~/first ~/second')).stdout).toBe('first\nsecond\n')
    await client.snapshots.delete({ params: { id: second.id } })
    for (const id of [source, copy, last]) await client.devboxes.shutdown({ params: { id } })
    const query = { all: true, filters: { label: [`devdeck.service=${service.serviceId}`] } }
    expect(await docker.api.json('GET', '/images/json', { query })).toEqual([])
  })

  it("doesn't share containers and snapshots with a service on a copy of its data folder", async () => {
    const { client } = service
    const id = await service.devbox()
    await service.run(id, 'echo kept >~/kept')
    const snapshot = await client.snapshots.create({ params: { id }, body: {} })
    const dataDir = join(mkdtempSync(join(tmpdir(), 'devdeck-copy-')), 'data')
    execFileSync('cp', ['-a', service.dataDir, dataDir])
    const options = { isolation: 'container', engine: docker.url, image: 'base', dataDir } as const
    const keys = [{ account: 'test', key: service.key }]
    const copy = await startService({ ...options, keys })
    const call = (path: string) =>
      copy.fetch(path, { method: 'POST', headers: { authorization: `Bearer ${service.key}` } })
    const statusOf = async () =>
      (await copy.fetch(`/v1/devboxes/${id}`, { headers: { authorization: `Bearer ${service.key}` } })).json()
    await expect.poll(statusOf, { timeout: 20_000 }).toMatchObject({ status: 'failure' })
    expect((await call(`/v1/devboxes/${id}/shutdown`)).status).toBe(200)
    expect((await call(`/v1/devboxes/disk_snapshots/${snapshot.id}/delete`)).status).toBe(200)
    await copy.close()
    rmSync(join(dataDir, '..'), { recursive: true })
    expect((await service.run(id, 'cat ~/kept')).stdout).toBe('kept\n')
    const restored = await service.devbox({ snapshot_id: snapshot.id })
    expect((await service.run(restored, 'cat ~/kept')).stdout).toBe('kept\n')
    for (const each of [id, restored]) await client.devboxes.shutdown({ params: { id: each } })
    await client.snapshots.delete({ params: { id: snapshot.id } })
  })
})

describe.skipIf(!hasDocker)('a service whose container engine is killed', () => {
  let docker: TestDocker
  let service: TestService
  beforeAll(async () => {
    docker = await ownDocker()
    service = await startService({ isolation: 'container', engine: docker.url, image: await docker.image('busybox') })
  })
  afterAll(async () => {
    await service?.close()
    await docker?.close()
  })

  it('fails devboxes, refuses new ones, deletes later, and resumes with their disks once it is back', async () => {
    const { client } = service
    const [id, deleted, suspended] = [await service.devbox(), await service.devbox(), await service.devbox()]
    for (const each of [id, suspended]) await service.run(each, 'echo kept >~/kept')
    await client.devboxes.suspend({ params: { id: suspended } })
    await service.reach(suspended, 'suspended')
    const command = service.run(id, 'touch ~/started; sleep 1000')
    await expect.poll(async () => (await service.run(id, 'test -e ~/started')).exit_status).toBe(0)
    docker.kill()
    expect(await command).toMatchObject({ exit_status: 137 })
    const create = await service.post('/v1/devboxes')
    expect([create.status, (await create.json()).message]).toEqual([
      503,
      expect.stringMatching(/^The container engine at .* can't be reached: /),
    ])
    expect((await client.devboxes.shutdown({ params: { id: deleted } })).status).toBe('shutdown')
    expect((await service.reach(id, 'failure')).failure_reason).toBe('health_check_failed')
    const { logs } = await client.logs.list({ params: { id }, query: {} })
    expect(logs.map(({ message }) => message)).toContain(`The container engine at ${docker.url} stopped responding`)
    for (const each of [id, suspended]) expect((await service.post(`/v1/devboxes/${each}/resume`)).status).toBe(503)

    await docker.revive()
    const names = async () => (await docker.api.json<{ Names: string[] }[]>('GET', '/containers/json', all)).length
    await expect.poll(names, { timeout: 20_000 }).toBe(2)
    for (const each of [id, suspended]) {
      await client.devboxes.resume({ params: { id: each } })
      await service.reach(each, 'running')
      expect((await service.run(each, 'cat ~/kept')).stdout).toBe('kept\n')
      await client.devboxes.shutdown({ params: { id: each } })
    }
    expect(await names()).toBe(0)
  })
})

const all = { query: { all: true } }
