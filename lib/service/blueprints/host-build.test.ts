import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BlueprintCreate } from '#lib/contract/blueprints.ts'
import { bubblewrapProblem } from '#lib/service/engine/bubblewrap/bubblewrap.ts'
import { machine } from '#lib/service/engine/bubblewrap/system.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

const isIsolated = (await bubblewrapProblem()) === undefined
const { hasUsers } = await machine()

describe.runIf(isIsolated)('a blueprint built on this host', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.close())

  const begin = async (body: Omit<BlueprintCreate, 'name'>, name = 'test') =>
    (await service.client.blueprints.create({ body: { name, ...body } })).id
  const logOf = async (id: string) => {
    const { logs } = await service.client.blueprints.logs({ params: { id } })
    return logs.map(({ level, message }) => `${level} ${message}`)
  }
  const ended = async (id: string) => {
    for await (const _ of service.client.blueprints.tailLogs({ params: { id } }));
    return service.client.blueprints.get({ params: { id } })
  }
  const build = async (body: Omit<BlueprintCreate, 'name'>, name?: string) => ended(await begin(body, name))
  const built = async (body: Omit<BlueprintCreate, 'name'>, name?: string) => {
    const { id, ...blueprint } = await build(body, name)
    expect(blueprint, (await logOf(id)).join('\n')).toMatchObject({ status: 'build_complete', failure_reason: null })
    return id
  }
  const stored = async (content_type: 'tgz' | 'text', content: BodyInit) => {
    const { objects } = service.client
    const { id, upload_url } = await objects.create({ body: { name: 'context', content_type } })
    await fetch(upload_url ?? '', { method: 'PUT', body: content })
    await objects.complete({ params: { id } })
    return id
  }
  const packed = async (files: Record<string, string>) => {
    const folder = mkdtempSync(join(service.dataDir, 'context-'))
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    return stored('tgz', execFileSync('tar', ['-czC', folder, '.']))
  }
  const outputIn = async (devbox: string, command: string) => (await service.run(devbox, command)).stdout
  const destroy = (id: string) => service.client.devboxes.shutdown({ params: { id } })

  it('gives devboxes the home directory that its setup commands leave', async () => {
    await service.client.secrets.create({ body: { name: 'BUILD_SECRET', value: 'hidden' } })
    const id = await built({
      system_setup_commands: ['echo "$TOKEN" | wc -c >project/size', 'echo alias x=y >>~/.bashrc'],
      file_mounts: { '~/project/note': 'mounted\n' },
      secrets: { TOKEN: 'BUILD_SECRET' },
    })
    expect(await logOf(id)).toContain('info Step 3/5: RUN echo "$TOKEN" | wc -c >project/size')
    const devbox = await service.devbox({ blueprint_id: id, file_mounts: { 'project/own': 'of the devbox\n' } })
    expect(
      await outputIn(devbox, 'cat project/*; tail -n 1 ~/.bashrc; id -un; stat -c %U project/note; touch project/new'),
    ).toBe('mounted\nof the devbox\n7\nalias x=y\nuser\nuser\n')
    expect(await outputIn(devbox, 'echo "[$TOKEN]"')).toBe('[]\n')
    expect(await service.client.devboxes.get({ params: { id: devbox } })).toMatchObject({ blueprint_id: id })
    await destroy(devbox)
  })

  it('copies files of its build context, which may be ignored', async () => {
    const context = await packed({
      'app/main.sh': 'echo app',
      'app/skip.log': 'x',
      '.dockerignore': '*\n!app\n**/*.log',
    })
    const id = await built({
      dockerfile: 'COPY app /tmp/app',
      build_context: { type: 'object', object_id: context },
      file_mounts: { own: 'mounted' },
    })
    const devbox = await service.devbox({ blueprint_id: id })
    expect(await outputIn(devbox, 'ls /tmp/app; sh /tmp/app/main.sh; cat own')).toBe('main.sh\napp\nmounted')
    await destroy(devbox)
    await expect(
      begin({ build_context: { type: 'object', object_id: await stored('text', 'no archive') } }),
    ).rejects.toMatchObject({ status: 400, field: 'build_context.object_id' })
  })

  describe.runIf(hasUsers)('with its own system', () => {
    const tool =
      'printf "#!/bin/sh\\necho tool $LEVEL" >/usr/local/bin/devdeck-tool && chmod +x /usr/local/bin/devdeck-tool'

    it('gives devboxes the changed system, which they can read as user', async () => {
      const id = await built({
        dockerfile: `FROM debian\nARG LEVEL=0\nENV LEVEL=$LEVEL\nRUN ${tool} && useradd -m joe && touch /srv/made`,
        build_args: { LEVEL: '7' },
      })
      const devbox = await service.devbox({ blueprint_id: id })
      const look = 'devdeck-tool; ls /srv; id -un; echo $HOME $LEVEL; touch /srv/mine || rm /srv/made'
      expect(await service.run(devbox, look)).toMatchObject({
        stdout: 'tool 7\nmade\nuser\n/home/user 7\n',
        stderr: expect.stringMatching(/^touch: .*Permission denied\nrm: .*Permission denied\n$/),
      })
      expect(existsSync('/srv/made')).toBe(false)
      const other = await service.devbox()
      expect(await outputIn(other, 'ls /usr/local/bin/devdeck-tool /srv/made 2>/dev/null | wc -l')).toBe('0\n')
      for (const each of [devbox, other]) await destroy(each)
    })

    it('builds on the system, home and variables of its base', async () => {
      const base = await built(
        { dockerfile: `FROM debian\nENV LEVEL=1\nRUN ${tool} && echo base >/home/user/base` },
        'base',
      )
      const id = await built({
        base_blueprint_name: 'base',
        dockerfile: 'RUN devdeck-tool >/srv/level\nENV NEXT=$LEVEL$LEVEL',
        system_setup_commands: ['cat base >above'],
      })
      expect(await service.client.blueprints.get({ params: { id } })).toMatchObject({ base_blueprint_id: base })
      const devbox = await service.devbox({ blueprint_id: id })
      expect(await outputIn(devbox, 'cat /srv/level above; devdeck-tool; echo $NEXT')).toBe(
        'tool 1\nbase\ntool 1\n11\n',
      )
      await destroy(devbox)
    })

    it('keeps its system in a snapshot and across suspend, restart and resume', async () => {
      const id = await built({ dockerfile: `FROM debian\nENV LEVEL=2\nRUN ${tool}` })
      const devbox = await service.devbox({ blueprint_id: id })
      await service.run(devbox, 'echo kept >kept')
      const snapshot = await service.client.snapshots.create({ params: { id: devbox }, body: {} })
      expect(snapshot.source_blueprint_id).toBe(id)
      const { snapshots } = await service.client.snapshots.list({ query: { source_blueprint_id: id } })
      expect(snapshots).toEqual([snapshot])
      await service.client.devboxes.suspend({ params: { id: devbox } })
      await service.reach(devbox, 'suspended')
      await service.restart()
      await service.client.devboxes.resume({ params: { id: devbox } })
      await service.reach(devbox, 'running')
      const copy = await service.devbox({ snapshot_id: snapshot.id })
      for (const each of [devbox, copy]) expect(await outputIn(each, 'devdeck-tool; cat kept')).toBe('tool 2\nkept\n')
      const remove = () => service.client.blueprints.delete({ params: { id } })
      await expect(remove()).rejects.toMatchObject({ status: 400, message: expect.stringContaining(devbox) })
      await destroy(devbox)
      await expect(remove()).rejects.toMatchObject({ status: 400, message: expect.stringContaining(copy) })
      await destroy(copy)
      await expect(remove()).rejects.toMatchObject({ status: 400, message: expect.stringContaining(snapshot.id) })
      await service.client.snapshots.delete({ params: { id: snapshot.id } })
      expect(await remove()).toEqual({})
      expect(readdirSync(join(service.dataDir, 'blueprints'))).not.toContain(id)
    })

    it('accepts an install of what the host has, and stops at one that fails', async () => {
      await built({ system_setup_commands: ['sudo apt-get update && sudo apt-get install -y bash'] })
      const failed = await build({
        dockerfile: 'FROM debian\nRUN true\nRUN apt-get install -y devdeck-no-such-package\nRUN echo later',
      })
      expect(failed).toMatchObject({
        status: 'failed',
        failure_reason: 'build_failed',
        failure_message: expect.stringMatching(
          /^Dockerfile line 3: failed: apt-get install -y devdeck-no-such-package \(exit code 100: .*\)$/,
        ),
      })
      expect(await logOf(failed.id)).not.toContain('info later')
    })
  })

  it.each([
    ['RUN echo out; exit 3', /^Dockerfile line 2: RUN echo out; exit 3 failed with exit code 3: out/],
    ['COPY missing /tmp/', /^Dockerfile line 2: COPY missing: no such file in the build context$/],
    [
      'COPY --from=other /a /tmp/a',
      /^Dockerfile line 2: COPY --from=other \/a \/tmp\/a is not supported here; start a container engine/,
    ],
    ['nonsense line', /^Dockerfile line 2: NONSENSE line is not supported here; start a container engine/],
  ])('fails with the line of %s', async (line, message) => {
    const failed = await build({ dockerfile: `FROM debian\n${line}\n` })
    expect(failed).toMatchObject({ status: 'failed', failure_message: expect.stringMatching(message) })
    expect(failed.build_finish_time_ms).toBeGreaterThanOrEqual(failed.create_time_ms)
    expect(await logOf(failed.id)).toContain(`error ${failed.failure_message}`)
    expect(readdirSync(join(service.dataDir, 'blueprints', failed.id))).toEqual(['log'])
    await expect(service.devbox({ blueprint_id: failed.id })).rejects.toMatchObject({
      status: 400,
      field: 'blueprint_id',
      message: expect.stringContaining('failed to build'),
    })
  })

  it('fails for an image that this host cannot stand in for', async () => {
    expect((await build({ dockerfile: 'FROM example.com/team/app:1' })).failure_message).toBe(
      "FROM example.com/team/app:1: this host doesn't have the image; start a container engine to build this image",
    )
  })

  it('is canceled when it is deleted', async () => {
    const id = await begin({ system_setup_commands: ['echo begun; sleep 1000'] })
    for await (const { message } of service.client.blueprints.tailLogs({ params: { id } }))
      if (message === 'begun') break
    expect(await service.client.blueprints.delete({ params: { id } })).toEqual({})
    expect(await service.client.blueprints.get({ params: { id } })).toMatchObject({ state: 'deleted' })
    expect(readdirSync(join(service.dataDir, 'blueprints'))).not.toContain(id)
  })

  it('fails when the service stops', async () => {
    const id = await begin({ system_setup_commands: ['echo begun; sleep 1000'] })
    for await (const { message } of service.client.blueprints.tailLogs({ params: { id } }))
      if (message === 'begun') break
    await service.restart()
    expect(await service.client.blueprints.get({ params: { id } })).toMatchObject({
      status: 'failed',
      failure_message: 'The service stopped during the build',
    })
    expect((await logOf(id)).at(-1)).toBe('error The service stopped during the build')
  })
})
