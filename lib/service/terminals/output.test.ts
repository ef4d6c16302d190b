import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Batches } from './output.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const counted = () => {
  const seen = { passes: 0 }
  const batches = new Batches(() => seen.passes++)
  return { seen, batches }
}

describe('batched output', () => {
  it('is sent immediately after a pause', () => {
    const { seen, batches } = counted()
    batches.add(1)
    expect(seen.passes).toBe(1)
    vi.advanceTimersByTime(1)
    batches.add(1)
    expect(seen.passes).toBe(2)
  })

  it('is combined within a millisecond', () => {
    const { seen, batches } = counted()
    for (let piece = 0; piece < 10; piece++) batches.add(100)
    expect(seen.passes).toBe(1)
    vi.advanceTimersByTime(1)
    expect(seen.passes).toBe(2)
    vi.advanceTimersByTime(10)
    expect(seen.passes).toBe(2)
  })

  it('is combined while it continues', () => {
    const { seen, batches } = counted()
    batches.add(1)
    for (let ms = 0; ms < 5; ms++) {
      batches.add(1)
      batches.add(1)
      vi.advanceTimersByTime(1)
    }
    expect(seen.passes).toBe(6)
  })

  it('is sent before it exceeds 64 KiB', () => {
    const { seen, batches } = counted()
    batches.add(4095)
    let passedAt = 0
    for (let bytes = 4095; seen.passes === 1; bytes += 4095) {
      batches.add(4095)
      passedAt = bytes
    }
    expect(passedAt).toBeLessThanOrEqual(64 * 1024)
  })

  it('is flushed once at the end', () => {
    const { seen, batches } = counted()
    batches.add(1)
    batches.add(1)
    batches.flush()
    expect(seen.passes).toBe(2)
    vi.advanceTimersByTime(10)
    expect(seen.passes).toBe(2)
  })
})
