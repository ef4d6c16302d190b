import { expect, it } from 'vitest'
import { ageInMs, isAge, normalizeAge } from './age.ts'

it.each([
  ['30min', 1_800_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
])('%s is %i ms', (text, ms) => {
  expect(isAge(text)).toBe(true)
  expect(ageInMs(text)).toBe(ms)
})

it.each(['', '7', 'd', '7w', '-7d', '7 d', '1.5h', '123456d'])('rejects %j', (text) => {
  expect(isAge(text)).toBe(false)
})

it.each([
  ['7 d', '7d'],
  ['24 hours', '24h'],
  ['30m', '30min'],
  ['30 Minutes ', '30min'],
  ['soon', 'soon'],
])('normalizes %j to %s', (text, written) => {
  expect(normalizeAge(text)).toBe(written)
})
