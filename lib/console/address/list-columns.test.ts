import { expect, it } from 'vitest'
import * as z from 'zod/mini'
import { parseQuery } from '#lib/contract/query-string.ts'
import {
  axonColumns,
  devboxColumns,
  jobColumns,
  type ListColumns,
  readColumns,
  runColumns,
  scenarioColumns,
  snapshotColumns,
  usualColumns,
  withColumns,
  withoutColumns,
  writeColumns,
} from './list-columns.ts'

const lists: ListColumns[] = [axonColumns, devboxColumns, jobColumns, runColumns, scenarioColumns, snapshotColumns]

it.each(lists)('spells out no usual column of $cookie, and reads every one it has', (list) => {
  expect(usualColumns(list)[0]).toEqual({ id: 'name' })
  expect(writeColumns(usualColumns(list), list)).toBeUndefined()
  const every = Object.keys(list.labels).map((id) => ({ id, width: 80 }))
  expect(readColumns(writeColumns(every, list) ?? '', list)).toEqual(every)
})

it('has a cookie of its own for each list', () => {
  expect(new Set(lists.map(({ cookie }) => cookie)).size).toBe(lists.length)
})

it('takes keys of metadata where rows have some', () => {
  expect(readColumns('name,metadata.env', snapshotColumns)).toEqual([{ id: 'name' }, { id: 'metadata.env' }])
  expect(readColumns('name,metadata.env', jobColumns)).toBeNull()
  expect(readColumns('name,constructor', jobColumns)).toBeNull()
})

it('stands beside the query of the API, which never sees it', () => {
  const schema = withColumns(z.object({ state: z.optional(z.string()) }), runColumns)
  const parsed = parseQuery(schema, 'state=running&columns=name,id:90')
  expect(parsed).toEqual({ ok: true, value: { state: 'running', columns: 'name,id:90' } })
  expect(parsed.ok && withoutColumns(parsed.value)).toEqual({ state: 'running' })
  expect(parseQuery(schema, 'columns=colour')).toEqual({
    ok: false,
    problems: [{ field: 'columns', message: 'must name columns' }],
  })
})
