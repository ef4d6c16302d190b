import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BlueprintCreate } from '#lib/contract/blueprints.ts'
import { sharedDocker, type TestDocker } from '#lib/service/testing/docker.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

describe.skipIf(!hasDocker)('a blueprint built by a container engine', () => {
  let docker: TestDocker
  let service: TestService
  let base: string
  beforeAll(async () => {
    docker = await sharedDocker()
    base = await docker.image('base')
    service = await startService({ engine: docker.url, image: base })
  })
  afterAll(() => service?.close())

  const logOf = async (id: string) =>
    (await service.client.blueprints.logs({ params: { id } })).logs.map(({ message }) => message)
  const begin = async (body: Omit<BlueprintCreate, 'name'>) =>
    (await service.client.blueprints.create({ body: { name: 'image', ...body } })).id
  const build = async (body: Omit<BlueprintCreate, 'name'>) => {
    const id = await begin(body)
    for await (const _ of service.client.blueprints.tailLogs({ params: { id } }));
    return service.client.blueprints.get({ params: { id } })
  }
  const built = async (body: Omit<BlueprintCreate, 'name'>) => {
    const { id, status } = await build(body)
    expect(status, (await logOf(id)).join('\n')).toBe('build_complete')
    return id
  }
  const outputIn = async (devbox: string, command: string) => (await service.run(devbox, command)).stdout
  const destroy = (id: string) => service.client.devboxes.shutdown({ params: { id } })
  const images = (id: string) =>
    docker.api.json('GET', '/images/json', { query: { filters: { label: [`devdeck.blueprint=${id}`] } } })

  it('gives devboxes the image, with its files, variables and home directory', async () => {
    const id = await built({
      dockerfile: `FROM ${base}\nARG LEVEL=0\nENV LEVEL=$LEVEL\nRUN echo made >/srv/made`,
      build_args: { LEVEL: '7' },
      file_mounts: { '~/conf/note': 'mounted\n' },
      system_setup_commands: ['echo $HOME >where', "echo 'alias x=y' >>~/.bashrc\ntrue"],
    })
    expect(await logOf(id)).toContainEqual(expect.stringContaining('RUN echo made >/srv/made'))
    const devbox = await service.devbox({ blueprint_id: id })
    expect(await service.client.devboxes.get({ params: { id: devbox } })).toMatchObject({
      blueprint_id: id,
      isolation: { sandbox: 'container' },
    })
    const look = 'cat /srv/made conf/note where; echo $LEVEL; id -un; stat -c %U conf/note; touch own && echo own'
    expect(await outputIn(devbox, look)).toBe('made\nmounted\n/home/user\n7\nuser\nuser\nown\n')
    await destroy(devbox)
  })

  it('builds on its base, and is kept while a snapshot needs it', async () => {
    const first = await built({ dockerfile: `FROM ${base}\nRUN echo first >/srv/first` })
    const id = await built({ base_blueprint_id: first, system_setup_commands: ['cat /srv/first >second'] })
    const devbox = await service.devbox({ blueprint_id: id })
    await service.run(devbox, 'echo third >third')
    const snapshot = await service.client.snapshots.create({ params: { id: devbox }, body: {} })
    await destroy(devbox)
    const remove = (blueprint: string) => service.client.blueprints.delete({ params: { id: blueprint } })
    await expect(remove(first)).rejects.toMatchObject({ status: 400, message: expect.stringContaining(id) })
    await expect(remove(id)).rejects.toMatchObject({ status: 400, message: expect.stringContaining(snapshot.id) })
    const copy = await service.devbox({ snapshot_id: snapshot.id })
    expect(await outputIn(copy, 'cat second third')).toBe('first\nthird\n')
    await destroy(copy)
    await service.client.snapshots.delete({ params: { id: snapshot.id } })
    expect(await images(id)).toHaveLength(1)
    for (const each of [id, first]) {
      expect(await remove(each)).toEqual({})
      expect(await images(each)).toEqual([])
    }
  })

  it('builds on the host if the engine lacks the image', async () => {
    const id = await built({ dockerfile: 'FROM debian:devdeck-none\nRUN echo host >/srv/made' })
    expect(await logOf(id)).toContain(
      "The container engine can't get debian:devdeck-none; building over this host's system instead",
    )
    const devbox = await service.devbox({ blueprint_id: id })
    expect(await outputIn(devbox, 'cat /srv/made')).toBe('host\n')
    await destroy(devbox)
    expect((await build({ dockerfile: 'FROM devdeck/none:1' })).status).toBe('failed')
  })

  it('fails with the line', async () => {
    expect(await build({ dockerfile: `FROM ${base}\n\n# comment\nRUN echo out && exit 3` })).toMatchObject({
      status: 'failed',
      failure_reason: 'build_failed',
      failure_message: expect.stringMatching(/^Dockerfile line 4: RUN echo out && exit 3: .*\b3\b/),
    })
  })

  it('is canceled when it is deleted', async () => {
    const id = await begin({ dockerfile: `FROM ${base}\nRUN echo begun; sleep 1000` })
    for await (const { message } of service.client.blueprints.tailLogs({ params: { id } }))
      if (message.includes('begun')) break
    expect(await service.client.blueprints.delete({ params: { id } })).toEqual({})
    expect(await images(id)).toEqual([])
  })

  it('replaces the host system where all devboxes are containers', async () => {
    const contained = await startService({ isolation: 'container', engine: docker.url, image: base })
    const { blueprints, devboxes } = contained.client
    const body = { name: 'plain', system_setup_commands: ['echo in an image >where'] }
    expect((await blueprints.preview({ body })).dockerfile).toMatch(/^FROM base\n/)
    const { id } = await blueprints.create({ body })
    for await (const _ of blueprints.tailLogs({ params: { id } }));
    const devbox = await contained.devbox({ blueprint_name: 'plain' })
    expect((await contained.run(devbox, 'cat where')).stdout).toBe('in an image\n')
    await devboxes.shutdown({ params: { id: devbox } })
    await blueprints.delete({ params: { id } })
    await contained.close()
  })

  it("builds on this host what needs no image, and refuses what an image can't keep secret", async () => {
    const id = await built({ system_setup_commands: ['echo host >where'] })
    const devbox = await service.devbox({ blueprint_id: id })
    expect((await service.client.devboxes.get({ params: { id: devbox } })).isolation?.sandbox).not.toBe('container')
    await destroy(devbox)
    await service.client.secrets.create({ body: { name: 'TOKEN', value: 'hidden' } })
    await expect(begin({ dockerfile: `FROM ${base}`, secrets: { A: 'TOKEN' } })).rejects.toMatchObject({
      status: 501,
      field: 'secrets',
    })
  })
})
