import { expect, it } from 'vitest'
import { toCsv, toJsonLines } from '#lib/browser/lists/export.ts'
import { type Column, exportColumns } from './column.ts'
import {
  type ColumnChoice,
  chosenColumns,
  defaultChoices,
  metadataColumnId,
  readColumns,
  writeColumns,
} from './column-choice.tsx'
import { idColumn, metadataColumn, nameColumn, optional, timeColumn } from './columns.tsx'

interface Row {
  id: string
  name: string
  at_ms: number
  metadata: Record<string, string>
}

const plain: Column<Row>[] = [nameColumn(), idColumn(), optional(timeColumn('at_ms', 'Created'))]
const columns: Column<Row>[] = [
  ...plain,
  metadataColumn({}, () => '/rows'),
  { id: 'agent', header: 'Agent', meta: { export: { agent_name: () => 'a', model_name: () => null } } },
]

it('leaves the default columns out of the address, and reads back all others', () => {
  expect(defaultChoices(columns).map(({ id }) => id)).toEqual(['name', 'id', 'metadata', 'agent'])
  expect(writeColumns(defaultChoices(columns), columns)).toBe('')
  const all = columns.map(({ id = '' }) => ({ id, width: 80 }))
  expect(readColumns(writeColumns(all, columns), columns)).toEqual(all)
  expect(writeColumns([{ id: 'name' }, { id: 'id', width: 99.6 }], columns)).toBe('name,id:100')
})

it('keeps pinned columns next to the name, and then gives each column a width', () => {
  const choices = readColumns('name,agent:120,id:pin', columns) ?? []
  expect(choices).toEqual([{ id: 'name' }, { id: 'id', isPinned: true }, { id: 'agent', width: 120 }])
  expect(writeColumns(choices, columns)).toBe('name,id:pin,agent:120')
  expect(chosenColumns(choices, columns).map(({ meta }) => [meta?.width, meta?.isPinned])).toEqual([
    ['16rem', true],
    ['11.5rem', true],
    [120, false],
  ])
})

it('puts the name first and each column once', () => {
  expect(readColumns('id,name:200,id', columns)).toEqual([{ id: 'name', width: 200 }, { id: 'id' }])
})

it('accepts metadata keys if rows have metadata', () => {
  expect(readColumns('name,metadata.env', columns)).toEqual([{ id: 'name' }, { id: 'metadata.env' }])
  expect(readColumns('name,metadata.env', plain)).toBeNull()
})

it.each(['a,b', 'a:1', '-x', '%', '__proto__', '\ud83d\ude00'])('encodes the metadata key %j', (key) => {
  const choices: ColumnChoice[] = [{ id: 'name' }, { id: metadataColumnId(key), width: 120 }]
  expect(readColumns(writeColumns(choices, columns), columns)).toEqual(choices)
})

const tooMany = Array.from({ length: 30 }, (_, i) => `metadata.k${i}`).join()
it.each(['', 'color', 'constructor', 'metadata.', 'name,,id', '%', tooMany])('rejects %j', (text) =>
  expect(readColumns(text, columns)).toBeNull(),
)

it('exports the chosen columns in order, with times as text in CSV', () => {
  const choices = readColumns('name,metadata.env,agent,created', columns) ?? []
  const fields = exportColumns(chosenColumns(choices, columns))
  const row: Row = { id: 'x', name: 'n', at_ms: 0, metadata: { env: 'prod' } }
  expect(toJsonLines([row], fields)).toBe(
    '{"name":"n","metadata.env":"prod","agent_name":"a","model_name":null,"at_ms":0}\n',
  )
  expect(toCsv([row], fields)).toContain('"n","prod","a","","1970-01-01T00:00:00.000Z"')
})
