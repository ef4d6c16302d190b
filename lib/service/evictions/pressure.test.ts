import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import type { Eviction } from '#lib/contract/evictions.ts'
import { PressureWatch } from './pressure.ts'

it('repeats an eviction that could not be stored', async () => {
  const scheduled: (string | undefined)[] = []
  const watch = new PressureWatch({
    pressure: { minFreeMemoryBytes: Number.MAX_SAFE_INTEGER, minFreeDiskBytes: 0, noticeMs: 60_000 },
    dataDir: tmpdir(),
    evictions: {
      schedule(_account: string, { devbox_id }: Eviction) {
        scheduled.push(devbox_id)
        if (scheduled.length === 1) throw new Error('database or disk is full')
      },
      deadlineOf: () => undefined,
    },
    leastRecentlyUsed: () => [{ id: 'dbx_1', account: 'test' }],
    growing: () => [],
    freeEnded: async () => 0,
    statusOf: () => 'running',
  })
  await expect.poll(() => scheduled).toEqual(['dbx_1', 'dbx_1'])
  watch.close()
})
