import { expect, it } from 'vitest'
import { newId } from './ids.ts'

it('creates unique ids that start with their creation time', () => {
  const before = Date.now()
  const ids = Array.from({ length: 20_000 }, () => newId('axn'))
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids.slice(0, 10)) {
    expect(id).toMatch(/^axn_[0-9a-hjkmnp-tv-z]{26}$/)
    const digits = [...id.slice(4, 14)].map((digit) => '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(digit))
    const time = digits.reduce((sum, digit) => sum * 32 + digit, 0)
    expect(time).toBeGreaterThanOrEqual(before)
    expect(time).toBeLessThanOrEqual(Date.now())
  }
})
