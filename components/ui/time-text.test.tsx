import { expect, it } from 'vitest'
import { formatExact, formatInput, formatRelative, parseInput } from './time-text.ts'

const now = Date.UTC(2026, 10, 20, 12)

it('formats a time relative to now', () => {
  const ago = (ms: number) => formatRelative(now - ms, now)
  expect([0, 5_000, 60_000, 3_600_000, 86_400_000].map(ago)).toEqual([
    'just now',
    '5 s ago',
    '1 min ago',
    '1 h ago',
    '1 d ago',
  ])
  expect(formatRelative(now + 90_000, now)).toBe('in 1 min')
  expect(formatRelative(Date.UTC(2026, 0, 2), now)).toBe('2026-01-02')
})

it('reports an unknown time', () => {
  expect(formatRelative(Number.NaN, now)).toBe('unknown')
  expect(formatExact(Number.NaN)).toBe('Time not reported')
})

it('formats the exact time with its zone', () => {
  expect(formatExact(now)).toBe('2026-11-20 12:00:00 UTC')
  expect(formatExact(now, 'Europe/Berlin')).toBe('2026-11-20 13:00:00 GMT+1')
})

it.each([
  ['Europe/Berlin', '2026-07-01T02:30', Date.UTC(2026, 6, 1, 0, 30)],
  ['Europe/Berlin', '2026-10-25T01:30', Date.UTC(2026, 9, 24, 23, 30)],
  ['Europe/Berlin', '2026-10-25T04:00', Date.UTC(2026, 9, 25, 3)],
  ['Asia/Kolkata', '2026-01-01T00:00', Date.UTC(2025, 11, 31, 18, 30)],
])('reads and writes the time of an input in %s: %s', (zone, text, ms) => {
  expect(parseInput(text, zone)).toBe(ms)
  expect(formatInput(ms, zone)).toBe(text)
  expect(parseInput('', zone)).toBeUndefined()
})
