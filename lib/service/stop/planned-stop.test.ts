import { expect, test } from 'vitest'
import { isInUse } from './planned-stop.ts'

test('a shell is in use while a program runs in it, and for five minutes after the last input', () => {
  const nowMs = 1_000_000_000
  const minute = 60_000
  expect(isInUse({ program: undefined, lastInputMs: undefined }, nowMs)).toBe(false)
  expect(isInUse({ program: 'vim', lastInputMs: undefined }, nowMs)).toBe(true)
  expect(isInUse({ program: undefined, lastInputMs: nowMs - 4 * minute }, nowMs)).toBe(true)
  expect(isInUse({ program: undefined, lastInputMs: nowMs - 5 * minute }, nowMs)).toBe(false)
})
