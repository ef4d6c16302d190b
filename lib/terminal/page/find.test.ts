import { expect, it } from 'vitest'
import { type FindQuery, findPattern } from './find.ts'

const plain: FindQuery = { text: '', matchCase: false, wholeWord: false, regex: false }
const matches = (line: string, query: Partial<FindQuery>) => {
  const found = findPattern({ ...plain, ...query })
  if (!found || 'problem' in found) throw new Error(JSON.stringify(found))
  return [...line.matchAll(found.pattern)].map(({ index }) => index)
}

it('is literal unless it is an expression', () => {
  for (const text of ['a.b', '[x]', '(', 'a|b', '$5', '^', '\\d', 'a-b', '{2}', 'a*', '/', '+?'])
    expect(matches(`..${text}..`, { text }), text).toEqual([2])
  expect(matches('a1 b22', { text: '\\d+', regex: true })).toEqual([1, 4])
})

it('respects case and word boundaries', () => {
  expect(matches('Error error', { text: 'error' })).toEqual([0, 6])
  expect(matches('Error error', { text: 'error', matchCase: true })).toEqual([6])
  expect(matches('foobar foo foo_ (foo)', { text: 'foo', wholeWord: true })).toEqual([7, 17])
  expect(matches('über über', { text: 'ber', wholeWord: true })).toEqual([])
})

it('reports an invalid expression, and is null when empty', () => {
  expect(findPattern({ ...plain, text: '(', regex: true })).toEqual({
    problem: 'Not a regular expression: unterminated group',
  })
  // As a whole word, it must not close the wrapping group.
  expect(findPattern({ ...plain, text: 'a)|(?:b', regex: true, wholeWord: true })).toHaveProperty('problem')
  expect(findPattern({ ...plain, regex: true })).toBeNull()
})
