import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SnapshotListQuery } from '#lib/contract/snapshots.ts'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { startService, statusOf, type TestService } from '#lib/service/testing/service.ts'

describe('snapshots', () => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation: strongestIsolation })
    id = await service.devbox()
  })
  afterAll(() => service.close())

  const run = async (command: string, devboxId = id) => {
    const done = await service.run(devboxId, command)
    expect(done).toMatchObject({ exit_status: 0, stderr: '' })
    return done.stdout
  }
  const take = (body = {}, devboxId = id) => service.client.snapshots.create({ params: { id: devboxId }, body })
  const status = (snapshotId: string) => service.client.snapshots.status({ params: { id: snapshotId } })
  const remove = (snapshotId: string) => service.client.snapshots.delete({ params: { id: snapshotId } })
  const copyOf = (snapshotId: string, ...path: string[]) => join(service.dataDir, 'snapshots', snapshotId, ...path)
  const settled = async (snapshotId: string) => {
    for (;;) {
      const state = await status(snapshotId)
      if (state.status !== 'in_progress') return state
    }
  }

  it('returns a synchronous one when it is complete', async () => {
    await run('mkdir -p sync && head -c 100000 /dev/urandom > sync/data && echo in tmp > "$TMPDIR/note"')
    const snapshot = await take({ name: 'first', metadata: { env: 'prod' }, commit_message: 'as it was' })
    expect(snapshot).toMatchObject({
      source_devbox_id: id,
      name: 'first',
      metadata: { env: 'prod' },
      commit_message: 'as it was',
      source_blueprint_id: null,
    })
    expect(snapshot.id).toMatch(/^snp_/)
    expect(snapshot.size_bytes).toBeGreaterThanOrEqual(100_000)
    expect(await status(snapshot.id)).toEqual({ status: 'complete', error_message: null, snapshot })
    expect(await readFile(copyOf(snapshot.id, 'tmp', 'note'), 'utf8')).toBe('in tmp\n')
  })

  it('returns an asynchronous one immediately, without a size until complete', async () => {
    const snapshot = await service.client.snapshots.createAsync({ params: { id }, body: { name: 'later' } })
    expect(snapshot).toMatchObject({ name: 'later', size_bytes: null })
    const state = await settled(snapshot.id)
    expect(state.status).toBe('complete')
    expect(state.snapshot?.size_bytes).toBeGreaterThan(0)
  })

  it('copies files of all kinds without sharing them', async () => {
    await run(`mkdir -p kinds/empty && cd kinds
      echo same > a && ln a b && ln -s a link && ln -s /nowhere dangling && mkfifo pipe
      printf x > "$(printf 'bytes\\377\\n')" && truncate -s 1G holes && echo end >> holes
      chmod 4751 a && chmod 2700 empty && touch -d '2001-02-03 04:05:06.789 UTC' a
      echo locked > locked && chmod 0 locked`)
    const { id: snapshotId, size_bytes } = await take()
    const kinds = (name: string) => copyOf(snapshotId, 'home', 'kinds', name)
    const live = (name: string) => join(service.dataDir, 'devboxes', id, 'home', 'kinds', name)
    expect(readdirSync(kinds('.'), { encoding: 'buffer' }).sort(Buffer.compare)).toEqual(
      readdirSync(live('.'), { encoding: 'buffer' }).sort(Buffer.compare),
    )
    for (const name of ['a', 'b', 'link', 'dangling', 'pipe', 'holes', 'empty', 'locked']) {
      const [copied, original] = await Promise.all([lstat(kinds(name)), lstat(live(name))])
      expect({ name, mode: copied.mode, uid: copied.uid, mtime: copied.mtimeMs, size: copied.size }).toEqual({
        name,
        mode: original.mode,
        uid: original.uid,
        mtime: original.mtimeMs,
        size: original.size,
      })
    }
    const [a, b, holes] = await Promise.all(['a', 'b', 'holes'].map((name) => lstat(kinds(name))))
    expect(a?.ino).toBe(b?.ino)
    expect(a?.nlink).toBe(2)
    expect(holes?.blocks).toBeLessThan(1000)
    expect(size_bytes).toBeLessThan(2 ** 20)
    await run('echo changed > kinds/b; rm -rf sync')
    expect(await readFile(kinds('a'), 'utf8')).toBe('same\n')
  })

  it('copies a home whose files change in the meantime', async () => {
    const devbox = await service.devbox()
    const { execution_id } = await service.client.executions.executeAsync({
      params: { id: devbox },
      body: { command: 'mkdir d; while :; do for i in {1..200}; do echo $i > d/$i; done; rm -rf d; mkdir d; done' },
    })
    for (let i = 0; i < 3; i++) expect((await take({}, devbox)).size_bytes).toBeGreaterThan(0)
    await service.client.executions.kill({ params: { devbox_id: devbox, execution_id }, body: {} })
  })

  it.runIf(strongestIsolation === 'bubblewrap')('does not follow a link that replaces a folder', async () => {
    const outside = join(service.dataDir, 'outside')
    mkdirSync(outside)
    for (let i = 1; i <= 1000; i++) writeFileSync(join(outside, `${i}`), 'secret')
    const devbox = await service.devbox()
    await run('mkdir d && for i in {1..1000}; do echo decoy > d/$i; done', devbox)
    const { execution_id } = await service.client.executions.executeAsync({
      params: { id: devbox },
      body: { command: `ln -s ${outside} l; while :; do mv d e; mv l d; mv d l; mv e d; done` },
    })
    for (let i = 0; i < 3; i++) {
      const { id: snapshotId } = await take({}, devbox)
      expect(spawnSync('grep', ['-rl', 'secret', copyOf(snapshotId)], { encoding: 'utf8' }).stdout).toBe('')
    }
    await service.client.executions.kill({ params: { devbox_id: devbox, execution_id }, body: {} })
  })

  it('restores the disk in a new devbox, owned by its user', async () => {
    const source = await service.devbox()
    await run('mkdir work && echo kept > work/file && echo 1 > "$TMPDIR/note" && chmod 700 work', source)
    const { id: snapshotId } = await take({}, source)
    const body = { snapshot_id: snapshotId, file_mounts: { 'work/mounted': 'overlay' } }
    const created = await service.client.devboxes.createAndAwaitRunning({ body })
    expect(created).toMatchObject({ status: 'running', snapshot_id: snapshotId })
    const inspect = 'cat work/file work/mounted "$TMPDIR/note"; stat -c "%a %U" work; touch work/new; id -un'
    const [user] = (await run('id -un', source)).split('\n')
    expect(await run(inspect, created.id)).toBe(`kept\noverlay1\n700 ${user}\n${user}\n`)
  })

  it('blocks shutting down the devbox unless forced', async () => {
    const devbox = await service.devbox()
    await run('for i in {1..300}; do echo > file$i; done', devbox)
    const { id: snapshotId } = await service.client.snapshots.createAsync({ params: { id: devbox }, body: {} })
    const response = await service.fetch(`/v1/devboxes/${devbox}/shutdown`, { method: 'POST' })
    expect(response.status).toBe(409)
    expect(response.headers.get('x-should-retry')).toBe('false')
    const forced = await service.client.devboxes.shutdown({ params: { id: devbox }, query: { force: 'true' } })
    expect(forced.status).toBe('shutdown')
    expect(await settled(snapshotId)).toMatchObject({
      status: 'error',
      error_message: 'The devbox was shut down while the snapshot was in progress',
    })
    expect(readdirSync(copyOf('.'))).not.toContain(snapshotId)
  })

  it('returns the first snapshot for a repeated request', async () => {
    const post = async (requestId: string, body: object) => {
      const response = await service.post(`/v1/devboxes/${id}/snapshot_disk`, body, { 'x-request-id': requestId })
      return ((await response.json()) as { id: string }).id
    }
    const [first, again, otherBody, otherCall] = await Promise.all([
      post('retry-1', { name: 'x' }),
      post('retry-1', { name: 'x' }),
      post('retry-1', { name: 'y' }),
      post('retry-2', { name: 'x' }),
    ])
    expect(again).toBe(first)
    expect(new Set([first, otherBody, otherCall]).size).toBe(3)
    expect(await post('retry-1', { name: 'x' })).toBe(first)
    await remove(first)
    expect(await post('retry-1', { name: 'x' })).not.toBe(first)
  })

  it('limits the commit message to 1000 characters', async () => {
    expect((await take({ commit_message: 'é'.repeat(1000) })).commit_message).toHaveLength(1000)
    await expect(take({ commit_message: 'x'.repeat(1001) })).rejects.toMatchObject({
      status: 400,
      field: 'commit_message',
    })
  })

  it('replaces metadata, keeps missing fields and clears empty ones', async () => {
    const update = (snapshotId: string, body: object) =>
      service.client.snapshots.update({ params: { id: snapshotId }, body })
    const snapshot = await take({ name: 'n', metadata: { a: '1', b: '2' }, commit_message: 'm' })
    expect(await update(snapshot.id, { metadata: { b: '3', c: '4' } })).toEqual({
      ...snapshot,
      metadata: { b: '3', c: '4' },
    })
    expect((await update(snapshot.id, { name: null, metadata: null })).metadata).toEqual({ b: '3', c: '4' })
    expect(await update(snapshot.id, { name: '', commit_message: '', metadata: {} })).toMatchObject({
      name: null,
      commit_message: null,
      metadata: {},
    })
    expect(await statusOf(update('snp_missing', {}))).toBe(404)
  })

  it('keeps only the status of a deleted one', async () => {
    const snapshot = await take({ metadata: { deleted: 'yes' } })
    expect(await remove(snapshot.id)).toEqual({})
    expect(await status(snapshot.id)).toEqual({ status: 'deleted', error_message: null, snapshot })
    expect(readdirSync(copyOf('.'))).not.toContain(snapshot.id)
    expect(await remove(snapshot.id)).toEqual({})
    expect(await statusOf(remove('snp_missing'))).toBe(404)
    expect(await statusOf(status('snp_missing'))).toBe(404)
    expect((await service.client.snapshots.metadataKeys({})).keys).not.toContain('deleted')
  })

  it('returns 409 for deleting one that is in progress', async () => {
    const { id: snapshotId } = await service.client.snapshots.createAsync({ params: { id }, body: {} })
    await expect(remove(snapshotId)).rejects.toMatchObject({
      status: 409,
      message: 'The snapshot is still being taken',
    })
    await settled(snapshotId)
    expect(await remove(snapshotId)).toEqual({})
  })

  it('lists pages by devbox and metadata, newest first', async () => {
    const devbox = await service.devbox()
    const ids: string[] = []
    for (const env of ['prod', 'dev', 'test', 'prod'])
      ids.unshift((await take({ metadata: { env, only: devbox } }, devbox)).id)
    const list = async (query: Partial<SnapshotListQuery>) => {
      const { snapshots, ...rest } = await service.client.snapshots.list({ query })
      return { ids: snapshots.map((snapshot) => snapshot.id), ...rest }
    }
    const all = { has_more: false, total_count: 4 }
    expect(await list({ devbox_id: devbox })).toEqual({ ids, ...all })
    expect(await list({ metadata: [{ key: 'only', op: 'eq', value: devbox }] })).toEqual({ ids, ...all })
    const inTwo: SnapshotListQuery['metadata'] = [{ key: 'env', op: 'in', values: ['dev', 'test'] }]
    expect((await list({ devbox_id: devbox, metadata: inTwo })).ids).toEqual(ids.slice(1, 3))
    const first = await list({ devbox_id: devbox, limit: 3 })
    expect(first).toEqual({ ids: ids.slice(0, 3), has_more: true, total_count: 4 })
    // A deleted snapshot is still a valid cursor.
    await remove(ids[2] ?? '')
    expect(await list({ devbox_id: devbox, limit: 3, starting_after: ids[2] ?? '' })).toEqual({
      ids: ids.slice(3),
      has_more: false,
      total_count: 3,
    })
    expect((await list({ devbox_id: devbox, include_total_count: false })).total_count).toBeNull()
    expect(await list({ source_blueprint_id: 'bpt_x' })).toEqual({ ids: [], has_more: false, total_count: 0 })
    expect(await statusOf(list({ devbox_id: 'dbx_missing' }))).toBe(404)
    expect(await statusOf(list({ starting_after: 'snp_missing' }))).toBe(400)
    expect((await service.otherClient.snapshots.list({ query: {} })).snapshots).toEqual([])
    expect(await service.client.snapshots.listPublic({ query: {} })).toEqual({
      snapshots: [],
      has_more: false,
      total_count: 0,
    })
  })

  it('lists metadata keys and values', async () => {
    await take({ metadata: { 'facet]': 'two' } })
    await take({ metadata: { 'facet]': 'one' } })
    expect((await service.client.snapshots.metadataKeys({})).keys).toContain('facet]')
    expect(await service.client.snapshots.metadataValues({ params: { key: 'facet]' } })).toEqual({
      key: 'facet]',
      values: ['one', 'two'],
    })
    expect((await service.otherClient.snapshots.metadataKeys({})).keys).toEqual([])
  })
})
