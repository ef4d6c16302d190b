import { expect, it } from 'vitest'
import { parseQuery } from '#lib/contract/query-string.ts'
import { expressionOf, LogView, logViewPath, recordsOf } from './search-params.ts'

const record = (source: string, message: string, change = {}) => ({
  timestamp_ms: 0,
  level: 'info',
  source,
  message,
  text: message,
  ...change,
})
const records = [
  record('exec', 'Built 12 files', { cmd_id: 'a' }),
  record('exec', 'warning: 3 left', { cmd_id: 'b', level: 'warn' }),
  record('stats', 'memory 12 MiB'),
  record('of_a_newer_service', 'a.c'),
]
const messages = (view: LogView) => recordsOf(records, view).shown.map(({ message }) => message)

it('leaves the statistics out unless they are asked for, and counts them', () => {
  expect(messages({})).toEqual(['Built 12 files', 'warning: 3 left', 'a.c'])
  expect(recordsOf(records, {}).stats).toBe(1)
  expect(recordsOf(records, { search: '12' }).stats).toBe(1)
  expect(messages({ source: 'stats' })).toEqual(['memory 12 MiB'])
  expect(recordsOf(records, { stats: 'shown' })).toMatchObject({ shown: records, stats: 0 })
})

it('leaves out what the Files tab read unless it is asked for, and counts it', () => {
  const withReads = [...records, { ...record('exec', 'listing', { cmd_id: 'c' }), isReadByFiles: true }]
  const shown = (view: LogView) => recordsOf(withReads, view).shown.length
  expect(recordsOf(withReads, {})).toMatchObject({ ofFiles: 1, stats: 1 })
  expect([shown({}), shown({ files: 'shown' }), shown({ execution: 'c' })]).toEqual([3, 4, 1])
})

it('filters by source, level and execution, also by words it does not know', () => {
  expect(messages({ source: 'of_a_newer_service' })).toEqual(['a.c'])
  expect(messages({ level: 'warn' })).toEqual(['warning: 3 left'])
  expect(messages({ execution: 'a' })).toEqual(['Built 12 files'])
})

it('searches by text, and leaves an expression to who may end it', () => {
  expect(messages({ search: 'BUILT' })).toEqual(['Built 12 files'])
  expect(messages({ search: 'a.c' })).toEqual(['a.c'])
  const byExpression: LogView = { search: '^\\w+: \\d', regex: 'yes' }
  expect(expressionOf(byExpression)).toEqual({ pattern: /^\w+: \d/giu })
  expect(recordsOf(records, byExpression, ({ level }) => level === 'warn').shown).toEqual([records[1]])
  expect(expressionOf({ search: '(', regex: 'yes' })).toHaveProperty('problem')
  expect([expressionOf({ search: '(' }), messages({ search: '(', regex: 'yes' }).length]).toEqual([null, 3])
})

it('keeps all of it in the address', () => {
  const view: LogView = {
    tab: 'log',
    source: 'exec',
    level: 'warn',
    execution: 'a',
    search: 'a&b',
    regex: 'yes',
    stats: 'shown',
  }
  const [path = '', search = ''] = logViewPath('dbx_1')(view).split('?')
  expect(path).toBe('/devboxes/dbx_1')
  const read = parseQuery(LogView, search)
  expect(read).toEqual({ ok: true, value: view })
})
