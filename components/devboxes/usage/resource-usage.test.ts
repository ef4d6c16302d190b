import { expect, it } from 'vitest'
import type { LogRecord } from '#lib/contract/logs.ts'
import { startService } from '#lib/service/testing/service.ts'
import { maxSamples, ResourceUsage, samplesOf } from './resource-usage.ts'

const stats = (message: string, timestamp_ms = 1): LogRecord => ({
  timestamp_ms,
  level: 'info',
  source: 'stats',
  message,
})

it('parses statistics of the local service and skips other formats', () => {
  const text = '3 processes, 24 MiB of memory, 1.50 s of CPU in 30 s, 12 MiB of disk used, 10240 MiB of disk free'
  const other = { ...stats(text), source: 'exec' }
  expect(samplesOf([stats(text, 7), other, stats('load average: 3')])).toEqual([
    {
      atMs: 7,
      cpuCores: 0.05,
      memoryBytes: 24 * 2 ** 20,
      diskUsedBytes: 12 * 2 ** 20,
      diskFreeBytes: 10 * 2 ** 30,
      processes: 3,
    },
  ])
  expect(samplesOf([stats('1 process, 2 MiB of memory, 0.31 s of CPU')])).toMatchObject([
    { cpuCores: null, memoryBytes: 2 * 2 ** 20, diskFreeBytes: null, processes: 1 },
  ])
})

it('keeps the latest samples, counts the rest and starts over after a resync', async () => {
  const many = Array.from({ length: maxSamples + 2 }, (_, at) => stats('2 MiB of memory', at))
  const usage = new ResourceUsage(async ({ onItems, onResync }) => {
    onItems(many, '')
    onResync?.('')
    onItems(many, '')
  })
  await usage.follow(new AbortController().signal)
  const { samples, dropped } = usage.getSnapshot()
  expect([samples.length, dropped, samples[0]?.atMs]).toEqual([maxSamples, 2, 2])
})

it('reads the log of a real service', async () => {
  const service = await startService({})
  try {
    const { id } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
    const stats = async () => samplesOf((await service.client.logs.list({ params: { id } })).logs)
    await expect.poll(async () => (await stats()).length).toBeGreaterThan(0)
    expect((await stats())[0]).toMatchObject({ memoryBytes: expect.any(Number), diskFreeBytes: expect.any(Number) })
  } finally {
    await service.close()
  }
})
