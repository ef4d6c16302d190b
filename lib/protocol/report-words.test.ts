import { expect, it } from 'vitest'
import { agentLabel, cutPart } from './report-words.ts'

it('cuts what an agent is called where it would fill the page, and names one without a name', () => {
  expect(agentLabel({ name: 'x'.repeat(500), model: 'y'.repeat(500) })).toHaveLength(2 * 121 + ' · '.length)
  expect(agentLabel({ name: ' ', model: null })).toBe('Unnamed agent')
})

it('cuts no character in half', () => {
  expect(cutPart('ab😀', 4)).toBe('ab😀')
  expect(cutPart('ab😀cd', 4)).toBe('ab😀…')
  expect(cutPart('abc😀d', 4)).toBe('abc…')
})
