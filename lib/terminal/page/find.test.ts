import xterm from '@xterm/headless'
import { describe, expect, it } from 'vitest'
import { boundXterm } from '../xterm/bounds.ts'
import { type FindQuery, findMatches, findPattern } from './find.ts'

const columns = 20
const screen = async (text: string) => {
  const terminal = new xterm.Terminal({ cols: columns, rows: 6, scrollback: 100, allowProposedApi: true })
  boundXterm(terminal)
  await new Promise<void>((parsed) => terminal.write(text.replaceAll('\n', '\r\n'), parsed))
  return terminal.buffer.active
}
const plain: FindQuery = { text: '', matchCase: false, wholeWord: false, regex: false }
const find = async (text: string, query: Partial<FindQuery>, max = 1000) => {
  const found = findPattern({ ...plain, ...query })
  if (!found || 'problem' in found) throw new Error(JSON.stringify(found))
  return findMatches((await screen(text)) as never, columns, found.pattern, max)
}
const places = async (text: string, query: Partial<FindQuery>) =>
  (await find(text, query)).matches.map(({ row, column, cells }) => [row, column, cells])

describe('matches', () => {
  it('are found anywhere, without overlaps', async () => {
    expect(await places('aaaa\nb aa', { text: 'aa' })).toEqual([
      [0, 0, 2],
      [0, 2, 2],
      [1, 2, 2],
    ])
  })

  it('may span rows', async () => {
    expect(await places(`${'x'.repeat(18)}needle tail`, { text: 'needle' })).toEqual([[0, 18, 6]])
    expect(await places(`${'x'.repeat(45)}needle`, { text: 'needle' })).toEqual([[2, 5, 6]])
  })

  it('count cells of wide and combining characters', async () => {
    expect(await places('日本語 find', { text: 'find' })).toEqual([[0, 7, 4]])
    expect(await places('日本語', { text: '本' })).toEqual([[0, 2, 2]])
    expect(await places('é👩‍💻 find', { text: 'find' })).toEqual([[0, 6, 4]])
    // The wide character doesn't fit at the end of the first row.
    expect(await places(`${'x'.repeat(19)}日end`, { text: '日e' })).toEqual([[1, 0, 3]])
    expect(await places(`${'x'.repeat(18)}a日end`, { text: 'a日' })).toEqual([[0, 18, 4]])
  })

  it('respect word boundaries', async () => {
    expect(await places('foobar foo foo_ (foo)', { text: 'foo', wholeWord: true })).toEqual([
      [0, 7, 3],
      [0, 17, 3],
    ])
    expect(await places('über über', { text: 'ber', wholeWord: true })).toEqual([])
  })
})

describe('a query', () => {
  it('is literal unless it is an expression', async () => {
    for (const text of ['a.b', '[x]', '(', 'a|b', '$5', '^', '\\d', 'a-b', '{2}', 'a*', '/', '+?'])
      expect(await places(`..${text}..`, { text }), text).toEqual([[0, 2, text.length]])
  })

  it('may use lookaround and empty matches', async () => {
    expect(await places('one\ntwo one', { text: '^one$', regex: true })).toEqual([[0, 0, 3]])
    expect(await places('a1 b22', { text: '\\d+', regex: true })).toEqual([
      [0, 1, 1],
      [0, 4, 2],
    ])
    expect(await places('abc', { text: 'x*', regex: true })).toEqual([])
    expect(await places('xax', { text: 'x*|$', regex: true })).toHaveLength(2)
  })

  it('reports an invalid expression, and is null when empty', () => {
    expect(findPattern({ ...plain, text: '(', regex: true })).toEqual({
      problem: 'Not a regular expression: unterminated group',
    })
    // As a whole word, it must not close the wrapping group.
    expect(findPattern({ ...plain, text: 'a)|(?:b', regex: true, wholeWord: true })).toHaveProperty('problem')
    expect(findPattern({ ...plain, regex: true })).toBeNull()
  })
})
