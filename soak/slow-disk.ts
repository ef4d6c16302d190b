import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { slowDisk } from '#lib/service/testing/slow-disk.ts'
import { withService } from './process.ts'

const flushMs = 200
const writers = 8
const reads = 500
const maxRatio = 2

/** Times reads on a disk that takes 200 ms per flush, without and with writers. */
export const soakSlowDisk = async (): Promise<{ lines: string[]; problems: string[] }> => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-slow-disk-'))
  try {
    const disk = slowDisk(folder)
    if (!disk) return { lines: ['Not tried: there is no C compiler'], problems: [] }
    const environment = { ...disk.environment, SLOW_DISK_MS: String(flushMs) }
    return await withService(['--isolation', 'none', '--engine', 'none'], measure, environment)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const measure: Parameters<typeof withService<{ lines: string[]; problems: string[] }>>[1] = async ({ client }) => {
  for (let i = 0; i < 20; i++) await client.axons.create({ body: { name: `axon ${i}` } })
  const readTimes = async () => {
    const times: number[] = []
    for (let i = 0; i < reads; i++) {
      const start = performance.now()
      await client.axons.list()
      times.push(performance.now() - start)
    }
    return times.sort((a, b) => a - b)
  }
  await readTimes()
  const quiet = await readTimes()
  const written: number[] = []
  let isDone = false
  const write = async (writer: number) => {
    for (let i = 0; !isDone; i++) {
      const start = performance.now()
      await client.axons.create({ body: { name: `writer ${writer}, ${i}` } })
      written.push(performance.now() - start)
    }
  }
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  const busy: number[] = []
  while (written.length < writers * 20) busy.push(...(await readTimes()))
  isDone = true
  await writing
  const [quietMs, busyMs] = [quiet, busy.sort((a, b) => a - b)].map((times) => at(times, 0.5)) as [number, number]
  const ratio = busyMs / quietMs
  const early = written.filter((ms) => ms < flushMs).length
  return {
    lines: [
      `${flushMs} ms per flush, ${writers} writers: p50 of reads ${quietMs.toFixed(2)} ms quiet, ${busyMs.toFixed(2)} ms during writes (${ratio.toFixed(2)} times), p99 ${at(busy, 0.99).toFixed(1)} ms`,
      `${written.length} writes, p50 ${at(
        written.sort((a, b) => a - b),
        0.5,
      ).toFixed(0)} ms`,
    ],
    problems: [
      ...(ratio > maxRatio ? [`reads took ${ratio.toFixed(1)} times as long during writes`] : []),
      ...(early > 0 ? [`${early} writes were acknowledged before a flush could end`] : []),
    ],
  }
}

const at = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
