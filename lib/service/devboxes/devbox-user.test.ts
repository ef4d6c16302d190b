import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeUnderEachIsolation, inContainer } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { openTerminal } from '#lib/service/testing/terminals.ts'

const ada = { uid: 1234, username: 'ada' }
const root = { uid: 0, username: 'root' }

describeUnderEachIsolation('user_parameters under isolation', (isolation) => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ isolation })
  })
  afterAll(() => service.close())

  const create = (user_parameters: typeof ada, file_mounts = {}) =>
    service.devbox({ launch_parameters: { user_parameters }, file_mounts })
  const refusal = { status: 501, field: 'launch_parameters.user_parameters' }

  if (isolation === 'none')
    it('return 501, unless they are the default', async () => {
      await expect(create(ada)).rejects.toMatchObject(refusal)
      await create({ uid: 1000, username: 'user' })
    })

  if (isolation === 'bubblewrap')
    it('return 501 for root', async () => {
      await expect(create(root)).rejects.toMatchObject(refusal)
    })

  if (isolation !== 'none')
    it('apply to commands, files and terminals, and after a resume', async () => {
      const { client } = service
      const id = await create(ada, { '/home/ada/mounted': 'm' })
      await expect(create(ada, { '/home/user/mounted': 'm' })).rejects.toMatchObject({ status: 400 })
      const facts = 'id -un; id -u; echo ~; stat -c %U ~ ~/mounted'
      const expected = 'ada\n1234\n/home/ada\nada\nada\n'
      expect((await service.run(id, facts)).stdout).toBe(expected)
      await client.files.write({ params: { id }, body: { file_path: 'written', contents: 'w' } })
      expect((await service.run(id, 'stat -c %U:%n ~/written')).stdout).toBe('ada:/home/ada/written\n')
      const terminal = await openTerminal(service, `${id}-terminal`)
      terminal.type('echo "I am $(id -un) in $PWD"\r')
      await terminal.shows(/I am ada in \/home\/ada/)
      terminal.socket.close()
      await client.devboxes.suspend({ params: { id } })
      await service.reach(id, 'suspended')
      await client.devboxes.resume({ params: { id } })
      await service.reach(id, 'running')
      expect((await service.run(id, facts)).stdout).toBe(expected)
    })

  if (inContainer(isolation))
    it('may be root, which can install software and nothing more', async () => {
      const id = await create(root, { '/root/mounted': 'm' })
      const script =
        'id -un; cat ~/mounted; echo; touch /usr/bin/new && echo new; mount -t tmpfs x /mnt || echo refused'
      expect((await service.run(id, script)).stdout).toBe('root\nm\nnew\nrefused\n')
    })
})
