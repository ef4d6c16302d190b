import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Client, createClient } from '#lib/client/client.ts'
import { spawnProcess } from '#lib/service/kit/spawn.ts'
import { runCommand } from '#lib/service/testing/process.ts'

const underLimit = (max: number) => ['/bin/bash', '-c', `ulimit -n ${max} && exec "$@"`, 'sh']

const start = async (folder: string, maxFiles: number) => {
  const service = runCommand(['--port', '0', '--data-dir', join(folder, 'data')], {}, underLimit(maxFiles))
  const baseUrl = await service.ready
  const authorization = `Bearer ${readFileSync(join(folder, 'data/api-key'), 'utf8').trim()}`
  const stop = async () => {
    service.child.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
  }
  return { client: createClient({ baseUrl, headers: { authorization } }), output: service.output, stop }
}
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-descriptors-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
const statusesOf = async (client: Client) => (await client.devboxes.list({})).devboxes.map(({ status }) => status)

it('rejects devboxes with 503 before it runs out of descriptors, and accepts more after a shutdown', async () => {
  const { client, output, stop } = await start(newFolder(), 110)
  const ids: string[] = []
  let rejection: unknown
  for (let i = 0; rejection === undefined && i < 100; i++)
    await client.devboxes.create({ body: {} }).then(
      ({ id }) => ids.push(id),
      (error: unknown) => {
        rejection = error
      },
    )
  expect(rejection).toMatchObject({ status: 503, code: 'unavailable', message: expect.stringContaining('ulimit -n') })
  const areRunning = () => expect.poll(() => statusesOf(client), { timeout: 30_000 }).toEqual(ids.map(() => 'running'))
  await areRunning()
  await client.devboxes.shutdown({ params: { id: ids[0] ?? '' } })
  let id = ''
  const createDevbox = async () => {
    id = (await client.devboxes.create({ body: {} })).id
    return id
  }
  await expect.poll(createDevbox).toMatch(/^dbx_/)
  const run = (command: string) => client.executions.executeSync({ params: { id }, body: { command } })
  await expect.poll(() => run('true').catch(() => undefined), { timeout: 30_000 }).toBeDefined()
  // More commands than descriptors: some may fail, but the service must survive.
  await Promise.allSettled(Array.from({ length: 40 }, () => run('sleep 0.2')))
  expect((await run('echo on')).stdout).toBe('on\n')
  const statuses = await statusesOf(client)
  expect(statuses.filter((status) => status === 'running')).toHaveLength(ids.length)
  expect(output.stderr).not.toContain('unexpected error')
  await stop()
}, 120_000)

it('restarts with too few descriptors, keeping the disks of devboxes that fail to start', async () => {
  const folder = newFolder()
  const many = await start(folder, 4096)
  for (let i = 0; i < 14; i++) await many.client.devboxes.create({ body: {} })
  await expect.poll(() => statusesOf(many.client), { timeout: 60_000 }).toEqual(Array(14).fill('running'))
  await many.stop()

  const few = await start(folder, 110)
  const seen = async () => new Set(await statusesOf(few.client))
  await expect.poll(seen, { timeout: 60_000 }).toEqual(new Set(['running', 'failure']))
  const failed = (await few.client.devboxes.list({})).devboxes.find(({ status }) => status === 'failure')?.id ?? ''
  expect(existsSync(join(folder, 'data/devboxes', failed, 'home'))).toBe(true)
  await few.stop()

  const again = await start(folder, 4096)
  await again.client.devboxes.resume({ params: { id: failed } })
  const statusOf = async () => (await again.client.devboxes.get({ params: { id: failed } })).status
  await expect.poll(statusOf, { timeout: 30_000 }).toBe('running')
  await again.stop()
}, 180_000)

it('doctor compares the file limit with --max-devboxes', async () => {
  const args = ['doctor', '--data-dir', '/nonexistent/devdeck', '--max-devboxes', '200']
  const doctor = async (max: number) => (await runCommand(args, {}, underLimit(max)).ended).stdout
  expect(await doctor(1024)).toMatch(/^note +open files +1024 .*required for --max-devboxes 200; /m)
  expect(await doctor(4096)).toMatch(/^ +open files +4096 .*required for --max-devboxes 200$/m)
})

it("throws if a process can't be started", () =>
  expect(() => spawnProcess('/nonexistent/program', [], { stdio: 'ignore' })).toThrow(
    '/nonexistent/program could not be started',
  ))
