import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Batches } from './batches.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const counted = () => {
  const seen = { passes: 0 }
  const batches = new Batches(() => seen.passes++)
  return { seen, batches }
}

describe('what a program prints', () => {
  it('is passed on at once after a pause', () => {
    const { seen, batches } = counted()
    batches.add(1)
    expect(seen.passes).toBe(1)
    vi.advanceTimersByTime(1)
    batches.add(1)
    expect(seen.passes).toBe(2)
  })

  it('goes together when it comes within a millisecond, and all of it is passed on', () => {
    const { seen, batches } = counted()
    for (let piece = 0; piece < 10; piece++) batches.add(100)
    expect(seen.passes).toBe(1)
    vi.advanceTimersByTime(1)
    expect(seen.passes).toBe(2)
    vi.advanceTimersByTime(10)
    expect(seen.passes).toBe(2)
  })

  it('goes together for as long as more of it comes', () => {
    const { seen, batches } = counted()
    batches.add(1)
    for (let ms = 0; ms < 5; ms++) {
      batches.add(1)
      batches.add(1)
      vi.advanceTimersByTime(1)
    }
    expect(seen.passes).toBe(6)
  })

  it('is passed on before it is more than a message of 64 KiB', () => {
    const { seen, batches } = counted()
    batches.add(4095)
    let passedAt = 0
    for (let bytes = 4095; seen.passes === 1; bytes += 4095) {
      batches.add(4095)
      passedAt = bytes
    }
    expect(passedAt).toBeLessThanOrEqual(64 * 1024)
  })

  it('is passed on at the end without waiting, and only once', () => {
    const { seen, batches } = counted()
    batches.add(1)
    batches.add(1)
    batches.flush()
    expect(seen.passes).toBe(2)
    vi.advanceTimersByTime(10)
    expect(seen.passes).toBe(2)
  })
})
