import { expect, it } from 'vitest'
import { formatTokens, formatUsd } from './usage-text.tsx'

it('formats tokens', () => {
  expect([0, 999, 12_345, 4_200_000].map(formatTokens)).toEqual(['0', '999', '12.3K', '4.2M'])
})

it('formats cost', () => {
  expect([0, 0.5, 1084.387, 0.01, 0.0012345].map(formatUsd)).toEqual([
    '$0.00',
    '$0.50',
    '$1,084.39',
    '$0.01',
    '$0.0012',
  ])
})
