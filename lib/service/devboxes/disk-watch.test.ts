import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLocalDisks } from '#lib/service/engine/local/disks.ts'
import type { LocalIsolation } from '#lib/service/engine/local/launch.ts'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { canSwap, keepSwapping } from '#lib/service/testing/swap.ts'
import { DiskWatch, type WatchedDisk } from './disk-watch.ts'

const mebibyte = 2 ** 20

describe('the watch over disks', () => {
  let dataDir: string
  let watch: DiskWatch
  let running: WatchedDisk[]
  let exceeded: { id: string; usedBytes: number }[]
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'devdeck-disks-'))
    running = []
    exceeded = []
    watch = new DiskWatch({
      dataDir,
      disksOf: () => disksUnder('none'),
      running: () => running,
      exceeded: (id, usedBytes) => {
        exceeded.push({ id, usedBytes })
        // Like a suspended devbox.
        running = running.filter((each) => each.id !== id)
      },
    })
  })
  afterEach(async () => {
    await watch.close()
    rmSync(dataDir, { recursive: true })
  })

  const disksUnder = (isolation: LocalIsolation) =>
    createLocalDisks(isolation, {
      serviceId: 'disk-watch-test',
      folderOf: (id) => join(dataDir, id),
      snapshotFolderOf: (id) => join(dataDir, 'snapshots', id),
    })
  const disk = (id: string, createTimeMs = Date.now()): WatchedDisk => {
    mkdirSync(join(dataDir, id, 'home'), { recursive: true })
    return { id, account: 'test', limitBytes: 4 * mebibyte, createTimeMs }
  }
  const write = (id: string, name: string, size: number, folder = 'home') => {
    mkdirSync(join(dataDir, id, folder), { recursive: true })
    writeFileSync(join(dataDir, id, folder, name), Buffer.alloc(size, 1))
  }

  it('continues once the data folder is available again', async () => {
    let checks = 0
    await watch.close()
    const later = join(dataDir, 'later')
    watch = new DiskWatch({
      dataDir: later,
      disksOf: () => disksUnder('none'),
      running: () => {
        checks++
        return running
      },
      exceeded: (id, usedBytes) => exceeded.push({ id, usedBytes }),
    })
    await expect.poll(() => checks).toBeGreaterThan(0)
    mkdirSync(later)
    running = [disk('large')]
    write('large', 'a', 5 * mebibyte)
    await expect.poll(() => exceeded.map(({ id }) => id)).toContain('large')
  })

  it('suspends a devbox whose files exceed the limit in total', async () => {
    running = [disk('small'), disk('large')]
    write('small', 'a', mebibyte)
    for (const folder of ['home', 'tmp', 'run']) write('large', 'a', 2 * mebibyte, folder)
    await expect.poll(() => exceeded).toHaveLength(1)
    expect(exceeded[0]?.id).toBe('large')
    expect(exceeded[0]?.usedBytes).toBeGreaterThanOrEqual(6 * mebibyte)
  })

  it.runIf(canSwap)('measures a disk whose folders keep turning into symlinks', async () => {
    disk('swapping')
    write('swapping', 'a', mebibyte)
    write('other', 'a', 8 * mebibyte)
    const home = join(dataDir, 'swapping', 'home')
    const stop = await keepSwapping(home, join(dataDir, 'other'))
    try {
      const { usedBytes } = disksUnder(strongestIsolation)
      const { signal } = new AbortController()
      for (let i = 0; i < 30; i++) expect(await usedBytes('swapping', signal)).toBeGreaterThan(mebibyte)
    } finally {
      await stop()
    }
  })

  it('counts empty files toward the limit', async () => {
    running = [disk('small'), disk('many')]
    write('small', 'a', mebibyte)
    for (let i = 0; i < 1100; i++) write('many', `${i}`, 0)
    await expect.poll(() => exceeded).toHaveLength(1)
    expect(exceeded[0]?.id).toBe('many')
    expect(exceeded[0]?.usedBytes).toBeGreaterThanOrEqual(4 * mebibyte)
  })

  it('allows cleanup after a resume and suspends again on growth', async () => {
    const large = disk('large')
    write('large', 'a', 6 * mebibyte)
    running = [large]
    await expect.poll(() => exceeded).toHaveLength(1)
    running = [large, disk('marker')]
    write('marker', 'a', 2 * mebibyte)

    await expect.poll(() => watch.growing().map(({ id }) => id)).toContain('marker')
    expect(exceeded).toHaveLength(1)
    write('large', 'b', 32 * mebibyte)
    await expect.poll(() => exceeded).toHaveLength(2)
  })

  it('lists growing devboxes, fastest first, but not merely large ones', async () => {
    const before = Date.now() - 24 * 3600 * 1000
    const old = disk('old', before)
    write('old', 'a', 3 * mebibyte)
    running = [old, disk('two'), disk('three')]
    write('two', 'a', 2 * mebibyte)
    write('three', 'a', 3 * mebibyte)
    await expect.poll(() => watch.growing().map(({ id }) => id)).toEqual(['three', 'two'])
  })
})
