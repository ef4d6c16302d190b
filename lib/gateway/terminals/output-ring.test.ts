import { expect, it } from 'vitest'
import { OutputRing } from './output-ring.ts'

const kept = 512 * 1024
const bytes = (from: number, length: number) => Buffer.from(Array.from({ length }, (_, i) => ((from + i) * 31) % 251))

it('returns output from any buffered offset, however it was chunked', () => {
  const ring = new OutputRing()
  ring.restart(1_000_000)
  const sizes = [1, 0, 7, 65_536, 3, 200_000, 1, kept, 10, 300_000, 5, 255, kept - 1, 2]
  for (const size of sizes) {
    const { end } = ring
    ring.add(bytes(end, size))
    expect(ring.end).toBe(end + size)
    const oldest = Math.max(1_000_000, ring.end - kept)
    for (const from of [
      oldest,
      Math.floor((oldest + ring.end) / 2),
      ring.end - Math.min(1, ring.end - oldest),
      ring.end,
    ])
      expect(ring.from(from)?.equals(bytes(from, ring.end - from)), `${from} of ${ring.end}`).toBe(true)
    expect(ring.from(oldest - 1)).toBeUndefined()
    expect(ring.from(ring.end + 1)).toBeUndefined()
  }
})

it('is emptied when counting restarts', () => {
  const ring = new OutputRing()
  ring.add(bytes(0, 100))
  ring.restart(20)
  expect(ring.from(10)).toBeUndefined()
  expect(ring.from(20)).toHaveLength(0)
  ring.add(bytes(20, 5))
  expect(ring.from(21)).toEqual(bytes(21, 4))
})
