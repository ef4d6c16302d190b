import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '#lib/client/api-error.ts'
import { type Client, createClient } from '#lib/client/client.ts'
import { spawnProcess } from '#lib/service/kit/spawn.ts'
import { runCommand } from '#lib/service/testing/process.ts'

const underLimit = (max: number) => ['/bin/bash', '-c', `ulimit -n ${max} && exec "$@"`, 'sh']

describe('a service with 110 file descriptors', () => {
  let folder: string
  let service: ReturnType<typeof runCommand>
  let client: Client
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'devdeck-descriptors-'))
    const args = ['--port', '0', '--data-dir', join(folder, 'data')]
    service = runCommand(args, {}, underLimit(110))
    const key = async () => `Bearer ${readFileSync(join(folder, 'data/api-key'), 'utf8').trim()}`
    const baseUrl = await service.ready
    client = createClient({ baseUrl, headers: { authorization: await key() } })
  })
  afterAll(async () => {
    service.child.kill('SIGTERM')
    await service.ended
    rmSync(folder, { recursive: true, force: true })
  })

  it('rejects devboxes with 503 before it runs out, keeps the others, and accepts more after a shutdown', async () => {
    const isRunning = (id: string) =>
      expect
        .poll(async () => (await client.devboxes.get({ params: { id } })).status, { timeout: 30_000 })
        .toBe('running')
    const ids: string[] = []
    let rejection: unknown
    for (let i = 0; rejection === undefined && i < 100; i++) {
      const devbox = await client.devboxes.create({ body: {} }).catch((error: unknown) => {
        rejection = error
        return undefined
      })
      if (devbox) ids.push(devbox.id)
    }
    expect(rejection).toBeInstanceOf(ApiError)
    expect(rejection).toMatchObject({ status: 503, code: 'unavailable', message: expect.stringContaining('ulimit -n') })
    expect(ids.length).toBeGreaterThan(0)
    for (const id of ids) await isRunning(id)
    const [ended = ''] = ids
    await client.devboxes.shutdown({ params: { id: ended } })
    let id = ''
    const createDevbox = async () => {
      id = (await client.devboxes.create({ body: {} })).id
      return id
    }
    await expect.poll(createDevbox).toMatch(/^dbx_/)
    await isRunning(id)
    // More commands than descriptors: some may fail, but the service must survive.
    await Promise.allSettled(
      Array.from({ length: 40 }, () =>
        client.executions.executeSync({ params: { id }, body: { command: 'sleep 0.2' } }),
      ),
    )
    expect(await client.executions.executeSync({ params: { id }, body: { command: 'echo on' } })).toMatchObject({
      stdout: 'on\n',
    })
    for (const each of [...ids.slice(1), id]) await isRunning(each)
    expect(service.output.stderr).not.toContain('unexpected error')
    expect(service.child.exitCode).toBeNull()
  }, 120_000)
})

it('restarts with too few descriptors, keeping the disks of devboxes that fail to start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-descriptors-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const startUnder = async (max: number) => {
    const service = runCommand(['--port', '0', '--data-dir', join(folder, 'data')], {}, underLimit(max))
    const baseUrl = await service.ready
    const authorization = `Bearer ${readFileSync(join(folder, 'data/api-key'), 'utf8').trim()}`
    const stop = async () => {
      service.child.kill('SIGTERM')
      return (await service.ended).code
    }
    return { client: createClient({ baseUrl, headers: { authorization } }), stop }
  }
  const statusesOf = async (client: Client) => (await client.devboxes.list({})).devboxes.map(({ status }) => status)
  const many = await startUnder(4096)
  for (let i = 0; i < 14; i++) await many.client.devboxes.create({ body: {} })
  await expect.poll(() => statusesOf(many.client), { timeout: 60_000 }).toEqual(Array(14).fill('running'))
  expect(await many.stop()).toBe(0)

  const few = await startUnder(110)
  const finalStatuses = ['running', 'failure']
  await expect
    .poll(async () => (await statusesOf(few.client)).every((status) => finalStatuses.includes(status)), {
      timeout: 60_000,
    })
    .toBe(true)
  expect(new Set(await statusesOf(few.client))).toEqual(new Set(finalStatuses))
  const failed = (await few.client.devboxes.list({})).devboxes.filter(({ status }) => status === 'failure')
  expect(existsSync(join(folder, 'data/devboxes', failed[0]?.id ?? '', 'home'))).toBe(true)
  expect(await few.stop()).toBe(0)

  const again = await startUnder(4096)
  await again.client.devboxes.resume({ params: { id: failed[0]?.id ?? '' } })
  await expect
    .poll(async () => (await again.client.devboxes.get({ params: { id: failed[0]?.id ?? '' } })).status, {
      timeout: 30_000,
    })
    .toBe('running')
  expect(await again.stop()).toBe(0)
}, 180_000)

it('doctor compares the file limit with --max-devboxes', async () => {
  const doctor = async (max: number) =>
    (
      await runCommand(['doctor', '--data-dir', '/nonexistent/devdeck', '--max-devboxes', '200'], {}, underLimit(max))
        .ended
    ).stdout
  expect(await doctor(1024)).toMatch(/^note +open files +1024 .*required for --max-devboxes 200; /m)
  expect(await doctor(4096)).toMatch(/^ +open files +4096 .*required for --max-devboxes 200$/m)
})

it("throws if a process can't be started", () =>
  expect(() => spawnProcess('/nonexistent/program', [], { stdio: 'ignore' })).toThrow(
    '/nonexistent/program could not be started',
  ))
