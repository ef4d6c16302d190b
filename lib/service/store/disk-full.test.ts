import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '#lib/service/testing/process.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { reserveNames } from './data-dir.ts'

const folder = mkdtempSync(join(tmpdir(), 'devdeck-full-'))

/** Mounts a disk of 8 MB, if permitted. */
const mount = () => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=700', 'devdeck', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const mounted = mount()
afterAll(() => {
  if (mounted) execFileSync('umount', ['--lazy', folder])
  rmSync(folder, { recursive: true, force: true })
})

const filler = join(folder, 'filler')
const fill = () => {
  const handle = openSync(filler, 'a')
  for (const size of [65_536, 4_096, 1])
    try {
      for (;;) writeSync(handle, Buffer.alloc(size))
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' })
    }
  closeSync(handle)
}

describe.skipIf(!mounted)('a full disk', () => {
  let service: TestService
  let devbox: string
  let axon: string
  beforeAll(async () => {
    service = await startService({ isolation: 'none', dataDir: folder })
    devbox = (await service.client.devboxes.createAndAwaitRunning({ body: { name: 'before' } })).id
    axon = (await service.client.axons.create()).id
  })
  afterAll(() => service.close())

  const post = async (path: string, body: object) => {
    const response = await service.fetch(path, {
      method: 'POST',
      ...(body instanceof FormData
        ? { body }
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
  const form = (...order: ('path' | 'file')[]) => {
    const parts = new FormData()
    for (const name of order) parts.append(name, name === 'path' ? 'uploaded' : new Blob(['x'.repeat(500_000)]))
    return parts
  }
  const writes = (): [name: string, path: string, body: (i: number) => object][] => [
    ['an axon', '/v1/axons', (i) => ({ name: `axon ${i}`, metadata: { big: 'y'.repeat(200) } })],
    [
      'an event',
      `/v1/axons/${axon}/publish`,
      () => ({ event_type: 'note', origin: 'USER_EVENT', source: 'test', payload: 'x'.repeat(5000) }),
    ],
    ['a devbox', '/v1/devboxes', () => ({})],
    ['a command', `/v1/devboxes/${devbox}/execute_async`, () => ({ command: 'echo hello' })],
    ['a secret', '/v1/secrets', (i) => ({ name: `S${Date.now()}_${i}`, value: 'z'.repeat(5000) })],
    ['an upload', `/v1/devboxes/${devbox}/upload_file`, () => form('path', 'file')],
    ['an upload with the file first', `/v1/devboxes/${devbox}/upload_file`, () => form('file', 'path')],
    ['a snapshot', `/v1/devboxes/${devbox}/snapshot_disk`, () => ({})],
  ]
  const acknowledged: string[] = []
  let published = 0

  it('returns 507 for writes, serves reads, and accepts writes once there is space', async () => {
    for (let round = 0; round < 2; round++) {
      for (const [name, path, body] of writes()) {
        fill()
        // The database may have free space in its own files.
        for (let i = 0; ; i++) {
          const response = await post(path, body(i))
          if (response.status === 507) {
            expect([name, response.body]).toEqual([name, expect.objectContaining({ code: 'insufficient_storage' })])
            break
          }
          expect([name, response]).toEqual([name, expect.objectContaining({ status: 200 })])
          if (path === '/v1/axons') acknowledged.push(response.body.id)
          if (name === 'an event') expect(response.body.sequence).toBe(++published)
        }
      }
      expect((await service.fetch('/v1/axons?limit=5')).status).toBe(200)
      expect((await service.fetch(`/v1/devboxes/${devbox}`)).status).toBe(200)

      rmSync(filler)
      for (const [name, path, body] of writes())
        expect([name, (await post(path, body(1_000_000 + round))).status]).toEqual([name, 200])
      published++
    }
    const { total_count } = await service.client.axons.events({ params: { id: axon } })
    expect(total_count).toBe(published)
    for (const id of acknowledged) expect(await service.client.axons.get({ params: { id } })).toMatchObject({ id })
    const database = new DatabaseSync(join(folder, 'devdeck.db'), { readOnly: true })
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    database.close()
  })

  it('records ended commands, shuts down devboxes, and restarts', async () => {
    const { client } = service
    const [ending, other] = [devbox, (await client.devboxes.createAndAwaitRunning({ body: {} })).id]
    const gate = join(folder, 'gate')
    const { execution_id } = await client.executions.executeAsync({
      params: { id: ending },
      body: { command: `until [ -e ${gate} ]; do sleep 0.02; done; exit 7` },
    })
    mkdirSync(gate)
    fill()
    const params = { devbox_id: ending, execution_id }
    const { exit_status } = await client.executions.waitForStatus({ params, body: { statuses: ['completed'] } })
    expect(exit_status).toBe(7)
    expect(await client.devboxes.shutdown({ params: { id: other } })).toMatchObject({ status: 'shutdown' })
    fill()
    await service.restart()
    expect(await client.executions.get({ params })).toMatchObject({ status: 'completed', exit_status: 7 })
    expect(await client.devboxes.get({ params: { id: other } })).toMatchObject({ status: 'shutdown' })
    rmSync(filler)
    rmSync(gate, { recursive: true })
  })

  it('allows a killed service to restart', async () => {
    await service.close()
    const start = () => runCommand(['--port', '0', '--isolation', 'none', '--stop-with-parent', '--data-dir', folder])
    const ends: Promise<unknown>[] = []
    try {
      for (const hasReserve of [true, true, false]) {
        const { child, ready, ended } = start()
        ends.push(ended)
        const url = await ready
        expect((await fetch(`${url}/healthz`)).status).toBe(200)
        fill()
        child.kill('SIGKILL')
        await ended
        // A kill may hit while the reserve is released.
        if (!hasReserve) for (const name of Object.values(reserveNames)) rmSync(join(folder, name), { force: true })
        fill()
      }
      const { child, ready, ended } = start()
      ends.push(ended)
      await ready
      child.kill('SIGTERM')
      await ended
    } finally {
      await Promise.all(ends)
      rmSync(filler, { force: true })
      await service.restart()
    }
  })

  it('allows a command to remove files', async () => {
    const params = { id: (await service.client.devboxes.createAndAwaitRunning({ body: {} })).id }
    const run = (command: string) => service.client.executions.executeSync({ params, body: { command } })
    await run('head -c 500K /dev/urandom > ~/large')
    fill()
    const write = async () => (await post('/v1/axons', { metadata: { big: 'y'.repeat(200) } })).status
    await expect.poll(write, { interval: 1 }).toBe(507)
    expect(await run('echo more > ~/more')).toMatchObject({ exit_status: 1 })
    // Lost output must be reported as truncated.
    expect(await run('echo lost')).toMatchObject({
      exit_status: 0,
      stdout: '',
      stderr: '',
      stdout_truncated: true,
      stderr_truncated: false,
    })
    expect(await run('rm ~/large')).toMatchObject({ exit_status: 0 })
    expect(statfsSync(folder).bavail).toBeGreaterThan(0)
    rmSync(filler)
  })
})
