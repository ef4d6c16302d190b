import { expect, it } from 'vitest'
import { agentLabel, truncate } from './report-words.ts'

it('truncates long agent names and labels missing ones', () => {
  expect(agentLabel({ name: 'x'.repeat(500), model: 'y'.repeat(500) })).toHaveLength(2 * 121 + ' · '.length)
  expect(agentLabel({ name: ' ', model: null })).toBe('Unnamed agent')
})

it('truncates between characters', () => {
  expect(truncate('ab😀', 4)).toBe('ab😀')
  expect(truncate('ab😀cd', 4)).toBe('ab😀…')
  expect(truncate('abc😀d', 4)).toBe('abc…')
})
