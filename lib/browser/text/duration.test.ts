import { expect, it } from 'vitest'
import { durationText, parseDuration } from './duration.ts'

it.each([
  ['90m', 5400],
  ['1h 30m', 5400],
  ['1h30m', 5400],
  ['1.5 hours', 5400],
  ['2 days, 3 h', 183_600],
  ['45 sec', 45],
  [' 10 Min ', 600],
  ['3600', undefined],
  ['', undefined],
  ['1h 30', undefined],
  ['5 months', undefined],
  ['-5m', undefined],
  ['h', undefined],
  ['1h or so', undefined],
])('%j is %s seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds)
})

it.each([0, 1, 59, 60, 3600, 5400, 86_399, 172_800, 183_661])('%i seconds survive being written', (seconds) => {
  expect(parseDuration(durationText(seconds))).toBe(seconds)
})
