import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLocalDisks } from '#lib/service/engine/local/disks.ts'
import { findProcesses, waitUntil } from '#lib/service/engine/processes.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { type Database, openDatabase } from '#lib/service/store/database.ts'
import { LostAndFound } from '#lib/service/store/lost-and-found.ts'
import { createSnapshotStore, type SnapshotStore } from '#lib/service/store/snapshots.ts'
import { StorageQuota } from '#lib/service/store/storage-quota.ts'
import { describeUnderEachLocalIsolation } from '#lib/service/testing/isolation.ts'
import { Snapshots } from './snapshots.ts'

const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const canMount = (() => {
  const probe = mkdtempSync(join(tmpdir(), 'devdeck-mount-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', probe]).status === 0
  if (mounted) spawnSync('umount', [probe])
  rmSync(probe, { recursive: true })
  return mounted
})()

describeUnderEachLocalIsolation('snapshots of disks under isolation', (isolation) => {
  const serviceId = newId('test')
  const marks = { DEVDECK_SERVICE_ID: serviceId }
  let root: string
  let database: Database
  let store: SnapshotStore
  let snapshots: Snapshots

  const disksIn = (folder: string) =>
    createLocalDisks(isolation, {
      serviceId,
      folderOf: (id) => join(root, 'devboxes', id),
      snapshotFolderOf: (id) => join(folder, id),
    })
  const open = (folder = join(root, 'snapshots')) =>
    new Snapshots({
      store,
      folder,
      engineOf: () => 'local',
      disksOf: () => disksIn(folder),
      lostAndFound: new LostAndFound(root),
      synced: () => database.synced(),
      quota: new StorageQuota(0),
    })
  beforeEach(() => {
    root = mkdtempSync(join(scratch, 'devdeck-snapshots-'))
    database = openDatabase(join(root, 'devdeck.db'))
    store = createSnapshotStore(database)
    snapshots = open()
  })
  afterEach(async () => {
    await snapshots.close()
    database.close()
    rmSync(root, { recursive: true, force: true })
    expect(findProcesses(marks)).toEqual([])
  })

  const addDevbox = (files: Record<string, string | Buffer> = {}, status = 'running', snapshotId?: string) => {
    const id = newId('dbx')
    database
      .prepare(
        `INSERT INTO devboxes (id, account, status, create_time_ms, launch_parameters, environment_variables, metadata, state_transitions, snapshot_id)
         VALUES (?, 'test', ?, 0, '{}', '{}', '{}', '[]', ?)`,
      )
      .run(id, status, snapshotId ?? null)
    for (const folder of ['home', 'tmp', 'run']) mkdirSync(join(root, 'devboxes', id, folder), { recursive: true })
    for (const [path, text] of Object.entries(files)) writeFileSync(join(root, 'devboxes', id, path), text)
    return id
  }
  /** Takes long enough to copy that a test can interrupt it. */
  const _addLargeDevbox = () => {
    const id = addDevbox()
    for (let i = 0; i < 4000; i++) writeFileSync(join(root, 'devboxes', id, 'home', `file${i}`), 'x')
    return id
  }
  const begin = async (devboxId: string, requestId = newId('req')) =>
    (await snapshots.begin('test', devboxId, {}, requestId)).id
  const take = async (devboxId: string) => snapshots.completed('test', await begin(devboxId))
  const state = (id: string) => store.state('test', id)
  const restored = async (id: string, signal = new AbortController().signal) => {
    const to = join(root, 'devboxes', 'new')
    await disksIn(join(root, 'snapshots')).make(to, { kind: 'snapshot', snapshotId: id }, signal)
    return to
  }

  it('contain home and /tmp only', async () => {
    const { id } = await take(addDevbox({ 'home/a': 'in home', 'tmp/b': 'in tmp', 'run/c': 'not in snapshots' }))
    const to = await restored(id)
    const home = join(to, 'home')
    expect(readFileSync(join(home, 'a'), 'utf8')).toBe('in home')
    expect(readFileSync(join(to, 'tmp/b'), 'utf8')).toBe('in tmp')
    expect(readdirSync(to).sort()).toEqual(['home', 'tmp'])
    expect(readdirSync(join(root, 'snapshots'))).toEqual([id])
    writeFileSync(join(home, 'a'), 'changed')
    expect(readFileSync(join(root, 'snapshots', id, 'home', 'a'), 'utf8')).toBe('in home')
  })

  it("can't be deleted while a devbox is starting from them", async () => {
    const { id } = await take(addDevbox({ 'home/a': 'x' }))
    const starting = addDevbox({}, 'provisioning', id)
    const refusal = { code: 'conflict', message: 'A devbox is starting from the snapshot' }
    await expect(snapshots.delete('test', id)).rejects.toMatchObject(refusal)
    database.prepare("UPDATE devboxes SET status = 'running' WHERE id = ?").run(starting)
    await snapshots.delete('test', id)
    expect(existsSync(join(root, 'snapshots', id))).toBe(false)
    await expect(restored(id)).rejects.toThrow('is missing from the data folder')
  })

  it('fail after a crash and leave nothing behind', async () => {
    const { id: kept } = await take(addDevbox({ 'home/a': 'x' }))
    const broken = newId('snp')
    store.insert({
      id: broken,
      account: 'test',
      source_devbox_id: addDevbox(),
      create_time_ms: 0,
      name: null,
      commit_message: null,
      engine: 'local',
      metadata: { a: '1' },
    })
    mkdirSync(join(root, 'snapshots', broken, 'home', 'locked'), { recursive: true })
    writeFileSync(join(root, 'snapshots', broken, 'home', 'locked', 'file'), 'x')
    snapshots = open()
    snapshots.recover()
    expect(state(broken)).toMatchObject({
      status: 'error',
      error_message: 'The service stopped while the snapshot was in progress',
    })
    expect(state(kept)?.status).toBe('complete')
    await waitUntil(() => readdirSync(join(root, 'snapshots')).length === 1)
    expect(readFileSync(join(root, 'snapshots', kept, 'home', 'a'), 'utf8')).toBe('x')
  })

  it.runIf(canMount)('fail on a full disk without leaving a partial copy', async () => {
    const small = join(root, 'small')
    mkdirSync(small)
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', small]).status).toBe(0)
    try {
      snapshots = open(join(small, 'snapshots'))
      const devbox = addDevbox({ 'home/big': Buffer.alloc(4_000_000, 1) })
      await expect(take(devbox)).rejects.toMatchObject({ code: 'insufficient_storage', shouldRetry: false })
      expect(readdirSync(join(small, 'snapshots'))).toEqual([])
      writeFileSync(join(root, 'devboxes', devbox, 'home', 'big'), Buffer.alloc(1_000_000, 1))
      const { id, size_bytes } = await take(devbox)
      expect(size_bytes).toBe(1_000_000)
      expect(statSync(join(small, 'snapshots', id, 'home', 'big')).size).toBe(1_000_000)
    } finally {
      await snapshots.close()
      expect(spawnSync('umount', [small]).status).toBe(0)
    }
  })
})
