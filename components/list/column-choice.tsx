import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Column } from './column.ts'

/**
 * The columns a list shows, their order and widths, as its address spells them: `name:320,state:pin,metadata.env`. Pinned
 * columns stay at the left, and the others scroll sideways instead of moving into the row's card.
 */
export interface ColumnChoice {
  id: string
  width?: number
  isPinned?: boolean
}

interface ListedRow {
  id: string
  metadata?: Readonly<Record<string, string>> | null | undefined
}

const maxColumns = 24
/** Pixels. */
export const minColumnWidth = 56
export const maxColumnWidth = 2000
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
    const [, name = '', width, pin] = /^([^:]+)(?::(\d{1,4}))?(:pin)?$/.exec(part) ?? []
    const id = readColumnId(name, columns)
    if (!id) return null
    if (choices.some((choice) => choice.id === id)) continue
    choices.push({
      id,
      ...(width && { width: Math.min(maxColumnWidth, Number(width)) }),
      ...(pin && { isPinned: true }),
    })
  }
  if (choices.length > maxColumns) return null
  return inOrder([choices.find(({ id }) => id === 'name') ?? { id: 'name' }, ...choices])
}

/** The name first, then pinned columns. */
export const inOrder = ([name, ...choices]: readonly ColumnChoice[]): ColumnChoice[] => {
  const others = choices.filter(({ id }) => id !== name?.id)
  return [
    ...(name ? [name] : []),
    ...others.filter(({ isPinned }) => isPinned),
    ...others.filter(({ isPinned }) => !isPinned),
  ]
}

export const writeColumns = <Row extends ListedRow>(
  choices: readonly ColumnChoice[],
  columns: readonly Column<Row>[],
): string => {
  const text = choices
    .map(
      ({ id, width, isPinned }) =>
        writeColumnId(id) + (width ? `:${Math.round(width)}` : '') + (isPinned ? ':pin' : ''),
    )
    .join(',')
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
): Column<Row>[] => {
  const hasPinned = choices.some(({ isPinned }) => isPinned)
  return choices.flatMap(({ id, width, isPinned }, at) => {
    const column = findColumn(id, columns)
    if (!column) return []
    const chosen = width ? { width } : {}
    if (!hasPinned) return width ? { ...column, meta: { ...column.meta, ...chosen } } : column
    return { ...column, meta: { ...scrolledMeta(column), ...chosen, isPinned: isPinned === true || at === 0 } }
  })
}

/** In a table that scrolls sideways, each column needs a width. */
const scrolledMeta = <Row extends ListedRow>({ meta = {} }: Column<Row>) => {
  const { width, minWidthRem = meta.priority === 1 ? 16 : 10 } = meta
  const isFixed = typeof width === 'number' || width?.endsWith('rem')
  return { ...meta, width: isFixed ? width : (`${minWidthRem}rem` as const) }
}

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
