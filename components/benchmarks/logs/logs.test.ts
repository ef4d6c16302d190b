import { describe, expect, it } from 'vitest'
import { readLines } from '#lib/browser/text/console-text.ts'
import type { RunLogFile } from '#lib/protocol/run-logs.ts'
import { LogText, markedSpans, readLog } from './log-text.ts'
import { foldersOf, logTree, treeRows, withoutRunId } from './log-tree.ts'

const esc = '\x1b'

describe('LogText', () => {
  const log = new LogText(readLines(`one\r\n${esc}[32mtwo Ok\nthree ok ok${esc}[0m\n10%\r50%\r100%\nlast\n`).lines)

  it('renders lines like a terminal, with styles across lines', () => {
    expect(log.lines.length).toBe(5)
    expect([0, 1, 2, 3, 4].map((line) => log.plainLine(line))).toEqual(['one', 'two Ok', 'three ok ok', '100%', 'last'])
    expect(log.spans(2)[0]?.style).toEqual({ color: 2 })
    expect(log.spans(3)[0]?.style).toEqual({})
    expect(log.text).toBe('one\ntwo Ok\nthree ok ok\n100%\nlast')
    expect(readLog([]).lines).toEqual([])
  })

  it('searches the visible text, case-insensitively', () => {
    expect(log.find('OK')).toEqual([
      { line: 1, start: 4, end: 6 },
      { line: 2, start: 6, end: 8 },
      { line: 2, start: 9, end: 11 },
    ])
    expect(log.find('[32m')).toEqual([])
    expect(log.find('')).toEqual([])
  })

  it('splits a line at matches and truncates it', () => {
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

describe('readLog', () => {
  it('keeps lines that end with a carriage return', () => {
    const log = readLog([
      Buffer.from(`first\nFetched 12 of 12\r${esc}[?25h\nplain\nReady\r${esc}[0m\n${esc}[31mone\rsecond${esc}[0m\n`),
    ])
    expect(log.text).toBe('first\nFetched 12 of 12\nplain\nReady\nsecond')
    expect(log.spans(4)).toEqual([{ text: 'second', style: { color: 1 } }])
  })

  it('appends pieces split anywhere', () => {
    const bytes = Buffer.from(`a 漢${esc}[31mred\r\nbad \u{1F389}\r${esc}[K50%\r100%\nend`)
    const whole = readLog([bytes])
    for (let cut = 1; cut < bytes.length; cut++) {
      const first = bytes.subarray(0, cut)
      readLog([first])
      const log = readLog([first, bytes.subarray(cut)])
      expect([cut, log.lines]).toEqual([cut, whole.lines])
      // Another file with the same beginning.
      expect(readLog([first, Buffer.from('\nx')]).text).toMatch(/\nx$|^.?\nx$/)
    }
  })

  it('reads UTF-16 in pieces', () => {
    const bytes = Buffer.from('\ufeffline 1\nline 2\n', 'utf16le')
    expect(readLog([bytes.subarray(0, 7), bytes.subarray(7)]).text).toBe('line 1\nline 2')
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

  it('sorts folders first and numbers naturally', () => {
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

  it('drops the scenario run id from names', () => {
    expect(withoutRunId('scr_01JABCDEF234_results.json')).toBe('results.json')
    expect(withoutRunId('my_file.log')).toBe('my_file.log')
    expect(withoutRunId('scr_01JABCDEF234_')).toBe('scr_01JABCDEF234_')
  })
})
