import { expect, it } from 'vitest'
import * as z from 'zod/mini'
import { parseQuery } from '#lib/contract/query-string.ts'
import { axonColumns } from './columns/axon-columns.ts'
import { readColumns, usualColumns, writeColumns } from './columns/column-text.ts'
import { devboxColumns } from './columns/devbox-columns.ts'
import { jobColumns } from './columns/job-columns.ts'
import { runColumns } from './columns/run-columns.ts'
import { scenarioColumns } from './columns/scenario-columns.ts'
import { snapshotColumns } from './columns/snapshot-columns.ts'
import { type ListColumns, withColumns, withoutColumns } from './list-columns.ts'

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
  const schema = withColumns(z.object({ state: z.optional(z.string()) }))
  const parsed = parseQuery(schema, 'state=running&columns=name,id:90')
  expect(parsed).toEqual({ ok: true, value: { state: 'running', columns: 'name,id:90' } })
  expect(parsed.ok && withoutColumns(parsed.value)).toEqual({ state: 'running' })
  // Of an older console, say: the list shows its usual columns.
  expect(parseQuery(schema, 'columns=colour').ok).toBe(true)
  expect(readColumns('colour', runColumns)).toBeNull()
})
