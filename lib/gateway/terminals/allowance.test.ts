import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Allowance } from './allowance.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

it('starts with a burst and refills', () => {
  const allowance = new Allowance({ burst: 100, perSecond: 50 })
  expect(allowance.spend(70)).toBe(30)
  vi.advanceTimersByTime(1000)
  expect(allowance.left).toBe(80)
  vi.advanceTimersByTime(60_000)
  expect(allowance.left).toBe(100)
})

it('can be overdrawn, and reports when the debt is paid', () => {
  const allowance = new Allowance({ burst: 100, perSecond: 50 })
  expect(allowance.debtMs).toBe(0)
  expect(allowance.spend(200)).toBe(-100)
  expect(allowance.debtMs).toBe(2000)
  vi.advanceTimersByTime(1500)
  expect(allowance.debtMs).toBe(500)
  vi.advanceTimersByTime(500)
  expect(allowance.debtMs).toBe(0)
})
