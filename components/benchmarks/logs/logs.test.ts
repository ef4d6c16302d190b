import { describe, expect, it } from 'vitest'
import { lineSpans, plainLine, readLines } from '#lib/browser/text/console-text.ts'
import type { RunLogFile } from '#lib/protocol/run-logs.ts'
import { findInLog, markedSpans, readLog } from './log-text.ts'
import { foldersOf, logTree, treeRows, withoutRunId } from './run-logs.tsx'

const esc = '\x1b'

describe('a log', () => {
  const { lines } = readLines(`one\r\n${esc}[32mtwo Ok\nthree ok ok${esc}[0m\n10%\r50%\r100%\nlast\n`)
  const spans = lineSpans(lines[2] ?? '')

  it('keeps lines that end with a carriage return', () => {
    const read = readLog([
      Buffer.from(`first\nFetched 12 of 12\r${esc}[?25h\nplain\nReady\r${esc}[0m\n${esc}[31mone\rsec`),
      Buffer.from(`ond${esc}[0m\n`),
    ])
    expect(read.map(plainLine)).toEqual(['first', 'Fetched 12 of 12', 'plain', 'Ready', 'second'])
    expect(lineSpans(read[4] ?? '')).toEqual([{ text: 'second', style: { color: 1 } }])
  })

  it('is searched by its visible text, case-insensitively', () => {
    expect(findInLog(lines, 'OK')).toEqual([
      { line: 1, start: 4, end: 6 },
      { line: 2, start: 6, end: 8 },
      { line: 2, start: 9, end: 11 },
    ])
    expect(findInLog(lines, '[32m')).toEqual([])
    expect(findInLog(lines, '')).toEqual([])
  })

  it('has lines split at matches and truncated', () => {
    const marked = markedSpans(spans, findInLog(lines, 'ok').slice(1))
    expect(marked.map(({ text, match }) => [text, match !== undefined])).toEqual([
      ['three ', false],
      ['ok', true],
      [' ', false],
      ['ok', true],
    ])
    expect(markedSpans(spans, [], 5).map(({ text }) => text)).toEqual(['three'])
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
