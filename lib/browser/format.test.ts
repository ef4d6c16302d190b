import { expect, it } from 'vitest'
import { formatBytes, formatClock, formatCountdown, formatDurationMs, formatShown } from './format.ts'

it('formats bytes in binary units with three digits', () => {
  expect([0, 1023, 1024, 1536, 1_572_864_000].map(formatBytes)).toEqual([
    '0 B',
    '1023 B',
    '1.00 KiB',
    '1.50 KiB',
    '1.46 GiB',
  ])
})

it('formats a duration in its two largest units', () => {
  expect(
    [0, 850, 4_250, 59_999, 60_000, 185_000, 3_600_000, 7_830_000, 86_400_000, 442_800_000].map(formatDurationMs),
  ).toEqual(['0 ms', '850 ms', '4.2 s', '59 s', '1 min', '3 min 5 s', '1 h', '2 h 10 min', '1 d', '5 d 3 h'])
})

it('formats a position in a recording as a clock', () => {
  expect([-1, 999, 7_000, 725_999, 3_729_000].map(formatClock)).toEqual(['0:00', '0:00', '0:07', '12:05', '1:02:09'])
})

it('formats the size of a list, also when the total is unknown', () => {
  expect(formatShown(20, true, 1234)).toBe('Showing 20 of 1,234')
  expect(formatShown(21, false, 20)).toBe('Showing 21 of 21')
  expect(formatShown(20, true, null)).toBe('Showing 20, more exist')
  expect(formatShown(3, false, undefined)).toBe('Showing 3')
})

it('shows 00:00 in a countdown only once the time is over', () => {
  expect([0, 1, 252_000, 3_852_000].map(formatCountdown)).toEqual(['00:00', '00:01', '04:12', '1:04:12'])
})
