import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StartError } from './kit/errors.ts'
import { runCommand } from './testing/process.ts'
import { startService, type TestService } from './testing/service.ts'

let dataDir: string
let service: TestService | undefined
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'devdeck-lost-'))
})
afterEach(async () => {
  await service?.close()
  service = undefined
  rmSync(dataDir, { recursive: true, force: true })
})

const at = (...path: string[]) => join(dataDir, ...path)
const start = async () => {
  service = await startService({ isolation: 'none', dataDir })
  return service.client
}
const stop = async () => {
  await service?.close()
  service = undefined
}
const command = (...args: string[]) => runCommand([...args, '--data-dir', dataDir]).ended

/** Creates a suspended devbox with a file, and a snapshot of it. */
const createRecords = async (name: string) => {
  const client = await start()
  const { id } = await client.devboxes.createAndAwaitRunning({ body: { name, metadata: { of: name } } })
  await client.executions.executeSync({ params: { id }, body: { command: `echo ${name} > ~/file` } })
  const snapshot = await client.snapshots.create({ params: { id }, body: { name: `snapshot of ${name}` } })
  const object = await client.objects.create({
    body: { name: `object of ${name}`, content_type: 'text', ttl_ms: 10 ** 9 },
  })
  await fetch(object.upload_url ?? '', { method: 'PUT', body: name })
  await client.objects.complete({ params: { id: object.id } })
  await client.devboxes.suspend({ params: { id } })
  await client.devboxes.waitForStatus({ params: { id }, body: { statuses: ['suspended'] } })
  return { devbox: id, snapshot: snapshot.id, object: object.id }
}

const expectRestored = async (
  { devbox, snapshot, object }: Awaited<ReturnType<typeof createRecords>>,
  name: string,
) => {
  const client = service?.client as TestService['client']
  const read = async (id: string) =>
    (await client.executions.executeSync({ params: { id }, body: { command: 'cat ~/file' } })).stdout
  expect(await client.devboxes.get({ params: { id: devbox } })).toMatchObject({ name, metadata: { of: name } })
  await client.devboxes.resume({ params: { id: devbox } })
  await client.devboxes.waitForStatus({ params: { id: devbox }, body: { statuses: ['running'] } })
  expect(await read(devbox)).toBe(`${name}\n`)
  const { snapshots } = await client.snapshots.list({ query: { devbox_id: devbox } })
  expect(snapshots).toMatchObject([{ id: snapshot, name: `snapshot of ${name}` }])
  const stored = await client.objects.get({ params: { id: object } })
  expect(stored).toMatchObject({ name: `object of ${name}`, content_type: 'text', state: 'READ_ONLY' })
  expect(stored.delete_after_time_ms).toBe(stored.create_time_ms + 10 ** 9)
  const { download_url } = await client.objects.download({ params: { id: object } })
  expect(await (await fetch(download_url)).text()).toBe(name)
  const copy = await client.devboxes.createAndAwaitRunning({ body: { snapshot_id: snapshot } })
  expect(await read(copy.id)).toBe(`${name}\n`)
}

const removeDatabase = () => {
  for (const end of ['', '-wal', '-shm']) rmSync(at(`devdeck.db${end}`), { force: true })
}

describe('a lost database', () => {
  it.each([
    ['deleted', removeDatabase],
    ['emptied', () => writeFileSync(at('devdeck.db'), '')],
  ])('that was %s prevents the start with two suggestions, and recover restores all records', async (how, lose) => {
    const created = await createRecords('kept')
    await stop()
    lose()
    const starting = start()
    await expect(starting).rejects.toThrow(StartError)
    await expect(starting).rejects.toThrow(/1 devbox, 1 snapshot and 1 object.*Restore devdeck\.db.*service -- recover/)
    for (const folder of [
      at('devboxes', created.devbox, 'home', 'file'),
      at('snapshots', created.snapshot, 'home', 'file'),
    ])
      expect(existsSync(folder)).toBe(true)
    // No other command may create a new database.
    expect(await command('keys', 'add')).toMatchObject({ code: 1, stderr: expect.stringContaining('recover') })
    expect(existsSync(at('devdeck.db'))).toBe(how === 'emptied')
    expect((await command('doctor')).stdout).toMatch(/^wrong database .*recover/m)
    expect(await command('recover')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 devbox, 1 snapshot and 1 object'),
    })
    await start()
    await expectRestored(created, 'kept')
  })

  it('is not recreated over a write-ahead log with its records', async () => {
    await start()
    await stop()
    writeFileSync(at('devdeck.db'), '')
    writeFileSync(at('devdeck.db-wal'), 'x'.repeat(5000))
    await expect(start()).rejects.toThrow(/write-ahead log/)
    expect(existsSync(at('devdeck.db-wal'))).toBe(true)
    expect(await command('recover')).toMatchObject({ code: 0 })
    const [when = ''] = readdirSync(at('lost+found'))
    expect(statSync(at('lost+found', when, 'devdeck.db-wal')).size).toBe(5000)
    await start()
  })

  it('assigns devboxes without a record file to the recovering account', async () => {
    const created = await createRecords('kept')
    await stop()
    removeDatabase()
    for (const folder of [
      at('devboxes', created.devbox),
      at('snapshots', created.snapshot),
      at('objects', created.object),
    ])
      rmSync(join(folder, 'record.json'))
    expect(await command('recover', '--account', 'test')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('account test'),
    })
    const client = await start()
    expect((await client.devboxes.list()).devboxes).toContainEqual(
      expect.objectContaining({ id: created.devbox, status: 'suspended' }),
    )
    const { snapshots } = await client.snapshots.list()
    expect(snapshots).toMatchObject([{ id: created.snapshot }])
    expect((await client.objects.list()).objects).toMatchObject([{ id: created.object, state: 'ERROR' }])
    await client.devboxes.createAndAwaitRunning({ body: { snapshot_id: created.snapshot } })
  })
})

describe('an older database', () => {
  it('restored over a newer folder moves unknown folders to lost+found, and recover restores them', async () => {
    const older = await createRecords('older')
    await stop()
    copyFileSync(at('devdeck.db'), at('backup'))
    const newer = await createRecords('newer')
    await service?.client.snapshots.delete({ params: { id: older.snapshot } })
    await stop()
    removeDatabase()
    copyFileSync(at('backup'), at('devdeck.db'))

    const client = await start()
    expect((await client.devboxes.list()).devboxes.map(({ id }) => id)).toEqual([older.devbox])
    const [when = ''] = readdirSync(at('lost+found'))
    expect(existsSync(at('lost+found', when, 'devboxes', newer.devbox, 'home', 'file'))).toBe(true)
    expect(existsSync(at('lost+found', when, 'snapshots', newer.snapshot, 'home', 'file'))).toBe(true)
    expect((await command('doctor')).stdout).toMatch(/^note {2}lost\+found +1 devbox, 1 snapshot and 1 object/m)

    expect(await command('recover')).toMatchObject({ code: 1, stderr: expect.stringContaining('in use') })
    await stop()
    writeFileSync(at('lost+found', '#12345'), 'put there by fsck')
    expect(await command('recover')).toMatchObject({ code: 0 })
    expect(readdirSync(at('lost+found'))).toEqual(['#12345'])
    await start()
    await expectRestored(newer, 'newer')
  })

  it('fails a running devbox whose disk is missing', async () => {
    const client = await start()
    const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
    await stop()
    rmSync(at('devboxes', id, 'home'), { recursive: true })
    const again = await start()
    expect(
      await again.devboxes.waitForStatus({ params: { id }, body: { statuses: ['failure', 'running'] } }),
    ).toMatchObject({
      status: 'failure',
    })
    expect(existsSync(at('devboxes', id, 'home'))).toBe(false)
  })
})

it('a crash between the shutdown of a devbox and the deletion of its disk is repaired at the next start', async () => {
  const client = await start()
  const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
  await client.devboxes.shutdown({ params: { id } })
  await stop()
  const { mkdirSync } = await import('node:fs')
  mkdirSync(at('devboxes', id, 'home'))
  mkdirSync(at('devboxes', 'dbx_never_stored', 'mounts'), { recursive: true })
  await start()
  await expect
    .poll(() => [existsSync(at('devboxes', id, 'home')), existsSync(at('devboxes', 'dbx_never_stored'))])
    .toEqual([false, false])
  expect(existsSync(at('lost+found'))).toBe(false)
})
