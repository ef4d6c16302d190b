import { expect, it } from 'vitest'
import { findEntries, rankOf } from './entries.ts'

it('ranks the whole text before its start, a word and a part', () => {
  expect(['Log', 'Login', 'Open log', 'Catalog', 'Files'].map((text) => rankOf(text, ' log '))).toEqual([4, 3, 2, 1, 0])
  expect(rankOf('Reset terminal', 'terminal reset')).toBe(1)
  expect(rankOf('a+b (c)', '(c')).toBe(2)
  expect(rankOf('Größe ändern', 'ÄND')).toBe(2)
})

const entries = [
  { key: 'theme', label: 'Change theme', items: [{ key: 'dark', label: 'Dark theme' }] },
  { key: 'devboxes', label: 'Devboxes' },
  { key: 'darkroom', label: 'Open darkroom' },
  { key: 'out', label: 'Sign out', keywords: 'log out' },
]

it('finds entries of nested pages, with the way to them', () => {
  expect(findEntries(entries, 'dark').map(({ key, trail }) => [key, trail])).toEqual([
    ['dark', ['Change theme']],
    ['darkroom', undefined],
  ])
  expect(findEntries(entries, 'change dark').map(({ key }) => key)).toEqual(['dark'])
  expect(findEntries(entries, 'change').map(({ key }) => key)).toEqual(['theme'])
})

it('finds entries by their keywords', () => {
  expect(findEntries(entries, 'log out').map(({ key }) => key)).toEqual(['out'])
  expect(findEntries(entries, 'nothing')).toEqual([])
})
