import { expect, it } from 'vitest'
import { axisFor } from '#lib/protocol/plot-axes.ts'
import { formatTokens, formatUsd } from './usage-text.tsx'

it('rounds an axis outward, including 0', () => {
  const axes = [[40, 43.5, 73.5], [-3, 1.5], [-0.02, -0.01], []].map(axisFor).map(({ low, high }) => [low, high])
  expect(axes).toEqual([
    [0, 100],
    [-5, 2],
    [-0.02, 0],
    [0, 1],
  ])
})

it('formats tokens and cost', () => {
  expect([0, 999, 12_345, 4_200_000].map(formatTokens).join(' ')).toBe('0 999 12.3K 4.2M')
  expect([0, 0.5, 1084.387, 0.01, 0.0012345].map(formatUsd).join(' ')).toBe('$0.00 $0.50 $1,084.39 $0.01 $0.0012')
})
