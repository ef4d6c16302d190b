import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { sharedDocker } from '#lib/service/testing/docker.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import { runCommand } from '#lib/service/testing/process.ts'

let folder: string
const running: ReturnType<typeof runCommand>[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-backup-'))
})
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

const command = (...args: string[]) => runCommand(args).ended
/** A service on a folder of its own: an isolated devbox has the host's home otherwise. */
const serve = async (dataDir: string, isolation = ['--isolation', 'none', '--engine', 'none']) => {
  const started = runCommand(['--port', '0', ...isolation, '--data-dir', dataDir])
  running.push(started)
  const baseUrl = await started.ready
  const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
  return createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
}
type Client = Awaited<ReturnType<typeof serve>>
const run = async (client: Client, id: string, command: string) =>
  (await client.executions.executeSync({ params: { id }, body: { command } })).stdout
const query = (client: Client, id: string, sql: string) => client.axons.query({ params: { id }, body: { sql } })

const path = (...names: string[]) => join(folder, ...names)

describe('backup and restore', () => {
  it('move a running service with its disks, secrets and axons, and the console around it', async () => {
    const original = await serve(path('here', 'service'))
    writeFileSync(path('here', 'session-secret'), 'sealed')
    writeFileSync(path('here', 'push-keys'), 'keys of the push subscriptions')
    mkdirSync(path('here', 'recordings'))
    writeFileSync(path('here', 'recordings', 'one.cast'), 'a recording')
    const alerts = new DatabaseSync(path('here', 'alerts.sqlite'))
    alerts.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES ('alert')")
    await original.secrets.create({ body: { name: 'TOKEN', value: 'the-secret-value' } })
    const { id } = await original.devboxes.createAndAwaitRunning({
      body: { name: 'box', secrets: { TOKEN: 'TOKEN' } },
    })
    await run(original, id, "echo kept >'a\nfile'; ln -s 'a\nfile' link; truncate -s 50M sparse; mkfifo pipe")
    const snapshot = await original.snapshots.create({ params: { id }, body: { name: 'copy' } })
    const axon = await original.axons.create({ body: { name: 'axon' } })
    await query(original, axon.id, 'CREATE TABLE t AS SELECT 42 AS x')

    const { stdout, stderr, code } = await command('backup', path('all.tar'), '--data-dir', path('here', 'service'))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Backed up the service and the console to .*all\.tar \([\d.]+ KiB\)/)
    expect((statSync(path('all.tar')).mode & 0o777).toString(8)).toBe('600')
    expect(existsSync(path('all.tar.part')) || existsSync(path('all.tar.staging'))).toBe(false)

    const alone = await command('restore', path('all.tar'), '--data-dir', path('devdeck-service'))
    expect(alone).toMatchObject({ code: 0, stderr: expect.stringContaining('the console was not restored') })
    expect(existsSync(path('session-secret'))).toBe(false)

    const restored = await command('restore', path('all.tar'), '--data-dir', path('there', 'service'))
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(restored.stdout).toMatch(
      /\nAPI keys, personal keys, sessions and share links that were revoked since then are/,
    )
    expect(readFileSync(path('there', 'session-secret'), 'utf8')).toBe('sealed')
    expect(readFileSync(path('there', 'push-keys'), 'utf8')).toBe('keys of the push subscriptions')
    expect(readFileSync(path('there', 'recordings', 'one.cast'), 'utf8')).toBe('a recording')
    const copied = new DatabaseSync(path('there', 'alerts.sqlite'), { readOnly: true })
    expect({ ...copied.prepare('SELECT x FROM t').get() }).toEqual({ x: 'alert' })
    copied.close()
    alerts.close()

    const copy = await serve(path('there', 'service'))
    await copy.devboxes.waitForStatus({ params: { id }, body: { statuses: ['running'] } })
    expect(await run(copy, id, 'cat link; echo $TOKEN; stat -c %s sparse')).toBe('kept\nthe-secret-value\n52428800\n')
    expect((await query(copy, axon.id, 'SELECT x FROM t')).rows).toEqual([[42]])
    const fresh = await copy.devboxes.createAndAwaitRunning({ body: { snapshot_id: snapshot.id } })
    expect(await run(copy, fresh.id, 'cat link')).toBe('kept\n')
    // The original is not affected by its copy.
    expect(await run(original, id, 'cat link')).toBe('kept\n')
  })

  it('has every disk that its database names while devboxes come and go', async () => {
    const client = await serve(path('service'))
    let isOver = false
    const churn = (async () => {
      while (!isOver) {
        const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
        await run(client, id, 'head -c 300000 /dev/urandom >data')
        const snapshot = await client.snapshots.create({ params: { id }, body: {} })
        await client.devboxes.shutdown({ params: { id } })
        const { snapshots } = await client.snapshots.list({ query: {} })
        if (snapshots.length > 3) await client.snapshots.delete({ params: { id: snapshot.id } })
      }
    })()
    for (const name of ['1.tar', '2.tar', '3.tar'])
      expect(await command('backup', path(name), '--data-dir', path('service'))).toMatchObject({ code: 0 })
    isOver = true
    await churn
    for (const name of ['1', '2', '3']) {
      const dataDir = path(name, 'service')
      expect(await command('restore', path(`${name}.tar`), '--data-dir', dataDir)).toMatchObject({ code: 0 })
      const copy = await serve(dataDir)
      const { snapshots } = await copy.snapshots.list({ query: {} })
      for (const { id } of snapshots) {
        const devbox = await copy.devboxes.createAndAwaitRunning({ body: { snapshot_id: id } })
        expect(await run(copy, devbox.id, 'stat -c %s data')).toBe('300000\n')
      }
      const { devboxes } = await copy.devboxes.list({ query: { status: 'failure' } })
      expect(devboxes).toEqual([])
    }
  })

  it.skipIf(!hasDocker)('list what has its disk in a container engine', async () => {
    const docker = await sharedDocker()
    const image = await docker.image('base')
    const client = await serve(path('service'), ['--isolation', 'container', '--engine', docker.url, '--image', image])
    const { id } = await client.devboxes.createAndAwaitRunning({ body: { name: 'box' } })
    const snapshot = await client.snapshots.create({ params: { id }, body: {} })
    const titles = [`  devbox box (${id})`, `  snapshot ${snapshot.id}`]
    const { stderr } = await command('backup', path('all.tar'), '--data-dir', path('service'))
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^2 of the devboxes, .* this backup doesn't/),
      ...titles,
    ])
    const restored = await command('restore', path('all.tar'), '--data-dir', path('there'))
    expect(restored.stderr.trimEnd().split('\n').slice(1)).toEqual(titles)
    await client.snapshots.delete({ params: { id: snapshot.id } })
    await client.devboxes.shutdown({ params: { id } })
  })

  it('refuse to overwrite data and to read a file that is not a backup', async () => {
    await serve(path('service'))
    const backUp = (file: string, dataDir = path('service')) => command('backup', file, '--data-dir', dataDir)
    expect((await backUp(path('all.tar'))).code).toBe(0)
    expect((await backUp(path('all.tar'))).stderr).toContain('already exists')
    expect((await backUp(path('other.tar'), path('nowhere'))).stderr).toContain('is not the data folder of a service')
    const restoring = (file: string, dataDir: string) => command('restore', path(file), '--data-dir', dataDir)
    expect((await restoring('all.tar', path('service'))).stderr).toContain("isn't empty")
    expect((await restoring('missing.tar', path('new'))).stderr).toContain("doesn't exist")
    const bytes = readFileSync(path('all.tar'))
    writeFileSync(path('half.tar'), bytes.subarray(0, bytes.length / 2))
    expect(await restoring('half.tar', path('new'))).toMatchObject({ code: 1, stdout: '' })
    expect(existsSync(path('new'))).toBe(false)
    const foreign = [
      ['backup.json', 'text'],
      ['backup.json', 'null'],
      ['backup.json', '{}'],
      ['service/devdeck.db', 'no database'],
      ['service/devdeck.db', ''],
    ] as const
    for (const [name, content] of foreign) {
      mkdirSync(path('foreign'))
      execFileSync('tar', ['-xf', path('all.tar'), '-C', path('foreign')])
      writeFileSync(path('foreign', name), content)
      execFileSync('tar', ['-cf', path('foreign.tar'), '-C', path('foreign'), '.'])
      rmSync(path('foreign'), { recursive: true })
      const { code, stderr } = await restoring('foreign.tar', path('new', 'service'))
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^.*foreign\.tar .*\n$/)])
      expect(readdirSync(path('new'))).toEqual([])
    }
  })

  it("say why a backup can't be written there", async () => {
    await serve(path('service'))
    const message = async (file: string) => (await command('backup', file, '--data-dir', path('service'))).stderr
    expect(await message(path('service', 'devboxes', 'all.tar'))).toMatch(
      /is in the data folder .*; write the backup to/,
    )
    expect(await message('/proc/all.tar')).toMatch(/^\/proc\/all\.tar can't be written: ENOENT: .*\n$/)
    expect(existsSync(path('service', 'devboxes'))).toBe(false)
    writeFileSync(path('file'), '')
    expect(await message(path('file', 'all.tar'))).toMatch(/all\.tar can't be written: ENOTDIR[^\n]*\n$/)
  })
})
