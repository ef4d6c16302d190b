import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Column } from './column.ts'

/** The columns a list shows, their order and widths, as its address spells them: `name:320,state,metadata.env`. */
export interface ColumnChoice {
  id: string
  width?: number
}

interface ListedRow {
  id: string
  metadata?: Readonly<Record<string, string>> | null | undefined
}

const maxColumns = 24
const maxWidth = 2000
const metadataPrefix = 'metadata.'

export const metadataColumnId = (key: string): `metadata.${string}` => `${metadataPrefix}${key}`

const metadataKeyOf = (id: string): string | undefined =>
  id.startsWith(metadataPrefix) && id.length > metadataPrefix.length ? id.slice(metadataPrefix.length) : undefined

const hasMetadata = <Row extends ListedRow>(columns: readonly Column<Row>[]): boolean =>
  columns.some(({ id }) => id === 'metadata')

export const defaultChoices = <Row extends ListedRow>(columns: readonly Column<Row>[]): ColumnChoice[] =>
  columns.flatMap(({ id = '', meta }) => (meta?.isOptional ? [] : { id }))

export const columnLabel = <Row extends ListedRow>(id: string, columns: readonly Column<Row>[]): string => {
  const column = columns.find((each) => each.id === id)
  return metadataKeyOf(id) ?? (typeof column?.header === 'string' ? column.header : id)
}

/** Null if the list has no such column. */
export const readColumnId = <Row extends ListedRow>(text: string, columns: readonly Column<Row>[]): string | null => {
  let id: string
  try {
    id = decodeURIComponent(text)
  } catch {
    return null
  }
  const isMetadata = metadataKeyOf(id) !== undefined && hasMetadata(columns)
  return isMetadata || columns.some((column) => column.id === id) ? id : null
}

// A comma, colon or leading minus in a metadata key would have a meaning in the address.
export const writeColumnId = (id: string): string => encodeURIComponent(id.toWellFormed())

/** Null if the text names an unknown column. The name column always comes first. */
export const readColumns = <Row extends ListedRow>(
  text: string,
  columns: readonly Column<Row>[],
): ColumnChoice[] | null => {
  const choices: ColumnChoice[] = []
  for (const part of text.split(',')) {
    const [, name = '', width] = /^([^:]+)(?::(\d{1,4}))?$/.exec(part) ?? []
    const id = readColumnId(name, columns)
    if (!id) return null
    if (choices.some((choice) => choice.id === id)) continue
    choices.push(width ? { id, width: Math.min(maxWidth, Number(width)) } : { id })
  }
  if (choices.length > maxColumns) return null
  return [choices.find(({ id }) => id === 'name') ?? { id: 'name' }, ...choices.filter(({ id }) => id !== 'name')]
}

export const writeColumns = <Row extends ListedRow>(
  choices: readonly ColumnChoice[],
  columns: readonly Column<Row>[],
): string => {
  const text = choices.map(({ id, width }) => writeColumnId(id) + (width ? `:${Math.round(width)}` : '')).join(',')
  const isDefault =
    text ===
    defaultChoices(columns)
      .map(({ id }) => id)
      .join(',')
  return isDefault ? '' : text
}

export const chosenColumns = <Row extends ListedRow>(
  choices: readonly ColumnChoice[],
  columns: readonly Column<Row>[],
): Column<Row>[] =>
  choices.flatMap(({ id, width }) => {
    const column = findColumn(id, columns)
    return column ? (width ? { ...column, meta: { ...column.meta, width } } : column) : []
  })

export const findColumn = <Row extends ListedRow>(
  id: string,
  columns: readonly Column<Row>[],
): Column<Row> | undefined => {
  const key = metadataKeyOf(id)
  return key === undefined ? columns.find((column) => column.id === id) : metadataValueColumn<Row>(id, key)
}

const metadataValueColumn = <Row extends ListedRow>(id: string, key: string): Column<Row> => ({
  accessorFn: ({ metadata }) => (metadata && Object.hasOwn(metadata, key) ? metadata[key] : undefined),
  id,
  header: () => <VisibleText max={60}>{key}</VisibleText>,
  cell: ({ getValue }) => getValue() !== undefined && <VisibleText truncate>{getValue()}</VisibleText>,
  meta: { priority: 3, width: '9rem', mono: true },
})
