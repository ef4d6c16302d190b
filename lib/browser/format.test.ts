import { expect, it } from 'vitest'
import { formatCount } from '#lib/browser/format.ts'
import { formatBytes, formatClock, formatCountdown, formatDurationMs, formatShown, isoTime } from './format.ts'

it('groups the digits of a count', () => {
  expect([0, 999, 1000, 1234567].map(formatCount)).toEqual(['0', '999', '1,000', '1,234,567'])
})

it('tells a time that a date can hold, and none for another', () => {
  expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z')
  expect([Number.NaN, 9e15, -9e15, Number.POSITIVE_INFINITY].map(isoTime)).toEqual(Array(4).fill(undefined))
})

it('tells bytes in binary units with three digits', () => {
  expect([0, 1, 1023, 1024, 1536, 1_048_576, 1_572_864_000].map(formatBytes)).toEqual([
    '0 B',
    '1 B',
    '1023 B',
    '1.00 KiB',
    '1.50 KiB',
    '1.00 MiB',
    '1.46 GiB',
  ])
})

it('tells a duration in its two largest units', () => {
  expect(
    [0, 850, 4_250, 59_999, 60_000, 185_000, 3_600_000, 7_830_000, 86_400_000, 442_800_000].map(formatDurationMs),
  ).toEqual(['0 ms', '850 ms', '4.2 s', '59 s', '1 min', '3 min 5 s', '1 h', '2 h 10 min', '1 d', '5 d 3 h'])
})

it('tells a place in a recording as a clock does', () => {
  expect([-1, 999, 7_000, 725_999, 3_729_000].map(formatClock)).toEqual(['0:00', '0:00', '0:07', '12:05', '1:02:09'])
})

it('formats the size of a list, also when the total is unknown', () => {
  expect(formatShown(20, true, 1234)).toBe('Showing 20 of 1,234')
  expect(formatShown(21, false, 20)).toBe('Showing 21 of 21')
  expect(formatShown(20, true, null)).toBe('Showing 20, more exist')
  expect(formatShown(3, false, undefined)).toBe('Showing 3')
})

it('shows 00:00 in a countdown only once the time is over', () => {
  expect([0, 1, 59_000, 252_000, 3_852_000].map(formatCountdown)).toEqual([
    '00:00',
    '00:01',
    '00:59',
    '04:12',
    '1:04:12',
  ])
})
