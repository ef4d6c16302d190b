import { describe, expect, it } from 'vitest'
import type { RunLogFile } from '#lib/wire/run-logs.ts'
import { noStyle } from '../frame/text-style.ts'
import { LogText, markedSpans } from './log-text.ts'
import { foldersOf, logTree, treeRows, withoutRunId } from './log-tree.ts'
import { styledLine } from './styled-text.ts'

const esc = '\x1b'

describe('styledLine', () => {
  it('keeps looks and drops everything else a terminal would act on', () => {
    const { spans, end } = styledLine(
      `a${esc}[1;31mb${esc}[0mc${esc}]0;title\x07d${esc}[2Je${esc}]8;;http://x${esc}\\link${esc}]8;;${esc}\\${esc}[4m`,
      noStyle,
    )
    expect(spans.map(({ text }) => text).join('')).toBe('abcdelink')
    expect(spans[1]).toEqual({ text: 'b', style: { bold: true, colour: 1 } })
    expect(spans[2]?.style).toEqual(noStyle)
    expect(end).toEqual({ underline: true })
  })

  it.each([
    ['38;5;9', { colour: 9 }],
    ['38;5;196', { colour: '255 0 0' }],
    ['48;5;232', { background: '8 8 8' }],
    ['38;2;1;2;3', { colour: '1 2 3' }],
    ['38:2:1:2:3;1', { colour: '1 2 3', bold: true }],
    ['97;100', { colour: 15, background: 8 }],
    ['31;39', {}],
    ['38;2;999;0;0', {}],
    ['38;5;256', {}],
    ['', {}],
  ])('reads %s', (codes, style) => {
    expect(styledLine(`${esc}[${codes}m`, noStyle).end).toEqual(style)
  })

  it('never takes longer than the line is long', () => {
    const line = `${esc}[`.repeat(100_000) + `${esc}]`.repeat(100_000)
    expect(styledLine(line, noStyle).spans.length).toBeGreaterThan(0)
  })
})

describe('LogText', () => {
  const log = new LogText(`one\r\n${esc}[32mtwo Ok\nthree ok ok${esc}[0m\n10%\r50%\r100%\nlast\n`)

  it('has the lines as a terminal leaves them, and looks that go on over lines', () => {
    expect(log.lines.length).toBe(5)
    expect([0, 1, 2, 3, 4].map((line) => log.plainLine(line))).toEqual(['one', 'two Ok', 'three ok ok', '100%', 'last'])
    expect(log.spans(2)[0]?.style).toEqual({ colour: 2 })
    expect(log.spans(3)[0]?.style).toEqual({})
    expect(new LogText('').lines).toEqual([])
  })

  it('finds in any case, by what is shown', () => {
    expect(log.find('OK')).toEqual([
      { line: 1, start: 4, end: 6 },
      { line: 2, start: 6, end: 8 },
      { line: 2, start: 9, end: 11 },
    ])
    expect(log.find('[32m')).toEqual([])
    expect(log.find('')).toEqual([])
  })

  it('splits a line at its matches, and cuts it where it is too long', () => {
    const marked = markedSpans(log.spans(2), log.find('ok').slice(1))
    expect(marked.map(({ text, match }) => [text, match !== undefined])).toEqual([
      ['three ', false],
      ['ok', true],
      [' ', false],
      ['ok', true],
    ])
    expect(markedSpans(log.spans(2), [], 5).map(({ text }) => text)).toEqual(['three'])
  })
})

describe('logTree', () => {
  const file = (path: string): RunLogFile => ({
    path,
    size_bytes: 1,
    packed_bytes: 1,
    modified_ms: null,
    version: 'v',
    refusal: null,
  })
  const files = ['b/10.log', 'b/9.log', 'a', 'a/x/y', 'results.json'].map(file)

  it('shows folders first and closed, numbers in their order, a file beside a folder of its name', () => {
    const shown = (opened: string[], filter = '') =>
      treeRows(logTree(files, filter), new Set(opened)).map(({ path, depth }) => `${depth} ${path}`)
    expect(shown([])).toEqual(['0 a/', '0 b/', '0 a', '0 results.json'])
    expect(shown(['b/'])).toEqual(['0 a/', '0 b/', '1 b/9.log', '1 b/10.log', '0 a', '0 results.json'])
    expect(shown([], 'Y A/')).toEqual(['0 a/', '1 a/x/', '2 a/x/y'])
    const ids = ['01a20537-cf9c-7cbb-8938', '01a20537-cf62-7cf3-8dd9'].map(file)
    expect(treeRows(logTree(ids, ''), new Set()).map(({ name }) => name.slice(9, 13))).toEqual(['cf62', 'cf9c'])
    expect(logTree(files, 'log').count).toBe(2)
    expect(foldersOf('a/x/y')).toEqual(['a/', 'a/x/'])
  })

  it('shortens a name by the id of its scenario run, and no other name', () => {
    expect(withoutRunId('scr_01JABCDEF234_results.json')).toBe('results.json')
    expect(withoutRunId('my_file.log')).toBe('my_file.log')
    expect(withoutRunId('scr_01JABCDEF234_')).toBe('scr_01JABCDEF234_')
  })
})
