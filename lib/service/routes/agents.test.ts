import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { AgentCreate } from '#lib/contract/agents.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { startService, statusOf } from '#lib/service/testing/service.ts'

const service = await startService({ isolation: strongestIsolation })
afterAll(() => service.close())
const folder = mkdtempSync(join(tmpdir(), 'devdeck-agents-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const { agents, devboxes, logs, objects } = service.client
let last = 0
const create = (body: Partial<AgentCreate> = {}) => agents.create({ body: { name: `agent ${++last}`, ...body } })

/** Uploads a tar archive of executable files. */
const stored = async (files: Record<string, string>, prepare = (_source: string) => {}) => {
  const source = mkdtempSync(join(folder, 'source-'))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(source, dirname(name)), { recursive: true })
    writeFileSync(join(source, name), content)
    chmodSync(join(source, name), 0o755)
  }
  prepare(source)
  const { id, upload_url } = await objects.create({ body: { name: 'archive', content_type: 'tar' } })
  const archive = execFileSync('tar', ['-c', '-C', source, '-f', '-', '.'])
  await fetch(upload_url ?? '', { method: 'PUT', body: new Uint8Array(archive) })
  await objects.complete({ params: { id } })
  return id
}
const mountOf = (agent_id: string, more: object = {}) => ({ type: 'agent_mount', agent_id, agent_name: null, ...more })
const logOf = async (id: string) => (await logs.list({ params: { id } })).logs
const output = async (id: string, command: string) => (await service.run(id, command)).stdout

describe('agents', () => {
  const npm = { type: 'npm' as const, npm: { package_name: '@team/agent', agent_setup: ['agent --init'] } }

  it('are created, read and deleted', async () => {
    const agent = await create({ name: 'first', version: '2.0.65', source: npm })
    expect(agent).toEqual({
      ...{ id: expect.stringMatching(/^agt_/), name: 'first', create_time_ms: expect.any(Number) },
      ...{ is_public: false, version: '2.0.65', source: npm },
    })
    const params = { id: agent.id }
    expect(await agents.get({ params })).toEqual(agent)
    expect(await create({ name: 'bare' })).toMatchObject({ version: null, source: null })
    expect(await agents.delete({ params })).toEqual({})
    expect(await statusOf(agents.get({ params }))).toBe(404)
    expect(await statusOf(agents.delete({ params }))).toBe(404)
  })

  it.each([
    ['name', { name: '' }],
    ['version', { version: '--global' }],
    ['source.type', { source: { type: 'apt' } }],
    ['source', { source: { type: 'pip', npm: { package_name: 'a' } } }],
    ['source.npm.package_name', { source: { type: 'npm', npm: { package_name: '--prefix=/' } } }],
    ['source.npm.registry_url', { source: { type: 'npm', npm: { package_name: 'a', registry_url: 'ftp://a' } } }],
    ['source.git.ref', { source: { type: 'git', git: { repository: 'https://a/b', ref: '--upload-pack=x' } } }],
  ])('reject %s of %j', async (field, body) => {
    await expect(create(body as never)).rejects.toMatchObject({ status: 400, field })
  })

  it('are listed by name, version and ID, in pages', async () => {
    const made: string[] = []
    for (const [name, version] of [
      ['list a', '1'],
      ['list a', '2'],
      ['list b', '1'],
    ] as const)
      made.unshift((await create({ name, version })).id)
    const [b1, a2, a1] = made
    const ids = async (query: Parameters<typeof agents.list>[0]) =>
      (await agents.list(query)).agents.map(({ id }) => id)
    expect(await ids({ query: { name: 'list' } })).toEqual(made)
    expect(await ids({ query: { name: 'list', version: '1' } })).toEqual([b1, a1])
    expect(await ids({ query: { name: 'list', version: 'latest' } })).toEqual([b1, a2])
    expect(await ids({ query: { search: a1 } })).toEqual([a1])
    expect(await ids({ query: { name: 'list', limit: 1, starting_after: b1 } })).toEqual([a2])
    expect(await ids({ query: { is_public: true } })).toEqual([])
    expect(await agents.listPublic()).toEqual({ agents: [], has_more: false, total_count: 0 })
    expect((await service.otherClient.agents.list()).agents).toEqual([])
  })
})

describe('an agent mount', () => {
  /** Programs in ~/.local/bin, which come first in PATH. */
  const fake = async (name: string, script: string) => ({
    type: 'object_mount',
    object_id: await stored({ [`.local/bin/${name}`]: `#!/bin/bash\n${script}\n` }),
    object_path: '~',
  })
  const recordArguments = 'printf "%s|" "$@" >> ~/arguments'

  it('installs npm and pip packages before the launch commands', async () => {
    const npm = await create({
      version: '1.2.3',
      source: {
        type: 'npm',
        npm: { package_name: '@team/agent', registry_url: 'https://npm.example.com', agent_setup: ['echo setup'] },
      },
    })
    const pip = await create({ source: { type: 'pip', pip: { package_name: 'agent', pip_version: '>=1,<2' } } })
    const id = await service.devbox({
      mounts: [
        await fake('npm', recordArguments),
        await fake('python3', `${recordArguments}; echo $PIP_BREAK_SYSTEM_PACKAGES`),
        mountOf(npm.id),
        { type: 'agent_mount', agent_id: null, agent_name: pip.name },
      ],
      launch_parameters: { launch_commands: ['cp ~/arguments ~/at-launch'] },
    })
    const home = await output(id, 'printf "%s" "$HOME"')
    expect(await output(id, 'cat at-launch')).toBe(
      `install|--global|--prefix|${home}/.local|--registry|https://npm.example.com|@team/agent@1.2.3|` +
        '-m|pip|install|--user|agent>=1,<2|',
    )
    const log = await logOf(id)
    expect(log).toContainEqual(expect.objectContaining({ source: 'setup_commands', cmd: 'echo setup' }))
    expect(log).toContainEqual(expect.objectContaining({ source: 'setup_commands', message: 'setup' }))
  })

  it('clones a repository at a ref and runs its setup once', async () => {
    const object_id = await stored({ agent: 'echo v1' }, (source) => {
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', source, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'ignore' })
      git('init')
      git('add', '.')
      git('commit', '-m', 'one')
      git('tag', 'v1')
      writeFileSync(join(source, 'agent'), 'echo v2')
      git('commit', '-am', 'two')
    })
    const git = { repository: './source', agent_setup: ['echo ran >> setup'] }
    const agent = await create({ version: 'v1', source: { type: 'git', git } })
    const id = await service.devbox({
      mounts: [
        { type: 'object_mount', object_id, object_path: '~/source' },
        mountOf(agent.id, { agent_path: '~/a b' }),
      ],
    })
    await devboxes.suspend({ params: { id } })
    await service.reach(id, 'suspended')
    await devboxes.resume({ params: { id } })
    await service.reach(id, 'running')
    expect(await output(id, 'bash "a b/agent"; cat "a b/setup"')).toBe('v1\nran\n')
  })

  it('passes a token to git without storing or logging it', async () => {
    const git = await fake('git', '/usr/bin/git config --get-urlmatch http.extraHeader "$4" > ~/header')
    const agent = await create({ source: { type: 'git', git: { repository: 'https://git.example.com/a.git' } } })
    const id = await service.devbox({ mounts: [git, mountOf(agent.id, { agent_path: '~/a', auth_token: 'sesame' })] })
    const credentials = Buffer.from('x-access-token:sesame').toString('base64')
    expect(JSON.stringify(await logOf(id))).not.toMatch(new RegExp(`sesame|${credentials}`))
    expect(existsSync(join(service.dataDir, 'devboxes', id, 'agent-setup.json'))).toBe(false)
    expect(await output(id, 'cat header; env | grep GIT')).toBe(`Authorization: Basic ${credentials}\n`)
  })

  it('unpacks an object and runs its setup in the folder', async () => {
    const object_id = await stored({ 'bin/agent': '#!/bin/sh\necho ran' })
    const object = { object_id, agent_setup: ['bin/agent > result'] }
    const agent = await create({ source: { type: 'object', object } })
    const id = await service.devbox({ mounts: [mountOf(agent.id, { agent_path: '/home/user/agent' })] })
    expect(await output(id, 'cat agent/result')).toBe('ran\n')
  })

  it('fails the start if the setup fails', async () => {
    const npm = { package_name: 'agent' }
    const agent = await create({ name: 'failing', source: { type: 'npm', npm } })
    const mounts = [await fake('npm', 'echo "no such package" >&2; exit 1'), mountOf(agent.id)]
    const body: DevboxCreate = { mounts, launch_parameters: { launch_commands: ['touch ~/launched'] } }
    const { id } = await devboxes.create({ body })
    expect(await service.reach(id, 'failure')).toMatchObject({ failure_reason: 'execution_failed' })
    const log = await logOf(id)
    expect(log).toContainEqual(expect.objectContaining({ message: 'no such package' }))
    expect(log.some(({ cmd }) => cmd === 'touch ~/launched')).toBe(false)
    expect((await agents.devboxCounts()).counts).not.toHaveProperty('failing')
  })

  it.each([
    ['mounts[0]', {}, {}],
    ['mounts[0].agent_id', { agent_id: 'agt_missing' }, {}],
    ['mounts[0].agent_name', { agent_name: 'missing' }, {}],
    ['mounts[0].agent_id', null, { source: null }],
    ['mounts[0].agent_path', null, { source: { type: 'git', git: { repository: 'https://a/b' } } }],
    [
      'mounts[0].object_id',
      { agent_path: '~/a' },
      { source: { type: 'object', object: { object_id: 'obj_missing' } } },
    ],
  ] as [string, object | null, Partial<AgentCreate>][])('is rejected with %s', async (field, mount, body) => {
    const { id } = await create(body)
    const agent_id = mount && !('agent_path' in mount) ? undefined : id
    const mounts = [{ type: 'agent_mount', ...(agent_id && { agent_id }), ...mount }]
    await expect(devboxes.create({ body: { mounts } })).rejects.toMatchObject({ status: 400, field })
  })

  it('is counted by agent until the devbox ends', async () => {
    const object_id = await stored({ file: '' })
    const agent = await create({ name: 'counted', source: { type: 'object', object: { object_id } } })
    const counted = () => service.devbox({ mounts: [mountOf(agent.id, { agent_path: '~/agent' })] })
    const first = await counted()
    await counted()
    const { counts, total_count } = await agents.devboxCounts()
    expect(counts.counted).toBe(2)
    expect(total_count).toBe(Object.values(counts).reduce((sum, count) => sum + count, 0))
    await devboxes.shutdown({ params: { id: first } })
    expect((await agents.devboxCounts()).counts.counted).toBe(1)
    expect(await service.otherClient.agents.devboxCounts()).toEqual({ counts: {}, total_count: 0 })
  })
})
