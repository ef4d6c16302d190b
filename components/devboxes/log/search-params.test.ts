import { expect, it } from 'vitest'
import { parseQuery } from '#lib/contract/query-string.ts'
import { filterRecords, LogSearchParams, logPath, searchPattern } from './search-params.ts'

const record = (source: string, text: string, change = {}) => ({
  timestamp_ms: 0,
  level: 'info',
  source,
  text,
  ...change,
})
const records = [
  record('exec', 'Built 12 files', { cmd_id: 'a' }),
  record('exec', 'warning: 3 left', { cmd_id: 'b', level: 'warn' }),
  record('stats', 'memory 12 MiB'),
  record('source_of_a_newer_service', 'a.c'),
  record('exec', 'listing', { cmd_id: 'c', isFromFilesTab: true }),
]

it.each<[LogSearchParams, string[], [stats: number, filesTab: number]]>([
  [{}, ['Built 12 files', 'warning: 3 left', 'a.c'], [1, 1]],
  [{ search: '12' }, ['Built 12 files'], [1, 0]],
  [{ source: 'stats' }, ['memory 12 MiB'], [0, 0]],
  [{ stats: 'shown' }, ['Built 12 files', 'warning: 3 left', 'memory 12 MiB', 'a.c'], [0, 1]],
  [{ files: 'shown' }, ['Built 12 files', 'warning: 3 left', 'a.c', 'listing'], [1, 0]],
  [{ execution: 'c' }, ['listing'], [0, 0]],
  [{ execution: 'a' }, ['Built 12 files'], [0, 0]],
  [{ source: 'source_of_a_newer_service' }, ['a.c'], [0, 0]],
  [{ level: 'warn' }, ['warning: 3 left'], [0, 0]],
  [{ search: 'BUILT' }, ['Built 12 files'], [0, 0]],
  [{ search: 'a.c' }, ['a.c'], [0, 0]],
])('filters by %j and counts what it hides', (params, texts, hidden) => {
  const { shown, hiddenStats, hiddenFilesTab } = filterRecords(records, params)
  expect(shown.map(({ text }) => text)).toEqual(texts)
  expect([hiddenStats, hiddenFilesTab]).toEqual(hidden)
})

it('leaves regular expressions to the caller', () => {
  const params: LogSearchParams = { search: '^\\w+: \\d', regex: 'yes' }
  expect(searchPattern(params)).toEqual({ pattern: /^\w+: \d/giu })
  expect(filterRecords(records, params, ({ level }) => level === 'warn').shown).toEqual([records[1]])
  expect(searchPattern({ search: '(', regex: 'yes' })).toHaveProperty('problem')
  expect(searchPattern({ search: '(' })).toBeNull()
})

it('keeps every filter in the address', () => {
  const params: LogSearchParams = {
    source: 'exec',
    level: 'warn',
    execution: 'a',
    search: 'a&b',
    regex: 'yes',
    stats: 'shown',
  }
  const [path = '', search = ''] = logPath('dbx_1')(params).split('?')
  expect(path).toBe('/devboxes/dbx_1/log')
  expect(parseQuery(LogSearchParams, search)).toEqual({ ok: true, value: params })
})
