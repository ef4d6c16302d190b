import { isoTime } from '#lib/browser/format.ts'
import { csvLines } from '#lib/protocol/csv.ts'
import { type ColumnChoice, metadataKeyOf } from '../address/list-columns.ts'

/** Rows of a table as files. Both hold the same rows in the same order and the same columns. */
export interface ExportColumn<Row> {
  name: string
  value: (row: Row) => unknown
  /** In CSV, where that reads better than the value: a time as text. */
  text?: (row: Row) => string
}

/** The byte order mark makes spreadsheets read it as UTF-8. */
export const toCsv = <Row>(rows: readonly Row[], columns: readonly ExportColumn<Row>[]): string =>
  `\uFEFF${csvLines([
    columns.map(({ name }) => name),
    ...rows.map((row) => columns.map(({ value, text }) => (text ? text(row) : value(row)))),
  ])}`

/** One object per row; a column a row has no value for is null in it. */
export const toJson = <Row>(rows: readonly Row[], columns: readonly ExportColumn<Row>[]): string =>
  `${JSON.stringify(
    rows.map((row) => objectOf(row, columns)),
    null,
    2,
  )}\n`

/** One object per row and line. */
export const toJsonLines = <Row>(rows: readonly Row[], columns: readonly ExportColumn<Row>[]): string =>
  rows.map((row) => `${JSON.stringify(objectOf(row, columns))}\n`).join('')

const objectOf = <Row>(row: Row, columns: readonly ExportColumn<Row>[]) =>
  Object.fromEntries(columns.map(({ name, value }) => [name, value(row) ?? null]))

/** What stands in a file for each column a list can have, metadata keys aside. */
export type ExportFields<Row> = Readonly<Record<string, ExportColumn<Row> | readonly ExportColumn<Row>[]>>

/** The chosen columns for a file: the service's words and values, times as text where a spreadsheet reads them. */
export const exportColumns = <Row>(choices: readonly ColumnChoice[], fields: ExportFields<Row>): ExportColumn<Row>[] =>
  choices.flatMap(({ id }): readonly ExportColumn<Row>[] => {
    const key = metadataKeyOf(id)
    if (key !== undefined) return [{ name: id, value: (row) => metadataValue(row as { metadata?: unknown }, key) }]
    return [fields[id] ?? []].flat() as ExportColumn<Row>[]
  })

const metadataValue = ({ metadata }: { metadata?: unknown }, key: string): unknown =>
  metadata && Object.hasOwn(metadata, key) ? (metadata as Record<string, unknown>)[key] : undefined

/** A time in milliseconds, which a spreadsheet gets as text. */
export const timeField = <Row>(name: string, value: (row: Row) => number | null | undefined): ExportColumn<Row> => ({
  name,
  value,
  text: (row) => toIso(value(row)),
})

const toIso = (ms: unknown): string => (typeof ms === 'number' && isoTime(ms)) || ''

export const exportFormats = { csv: 'CSV', json: 'JSON', ndjson: 'JSON lines' } as const
export type ExportFormat = keyof typeof exportFormats

const writers = { csv: toCsv, json: toJson, ndjson: toJsonLines }

/** Has the browser save rows as a file; the name it has. */
export const saveRows = <Row>(
  what: string,
  format: ExportFormat,
  rows: readonly Row[],
  columns: readonly ExportColumn<Row>[],
): string => saveText(what, format, writers[format](rows, columns))

/** `axons-20261121-1305.csv`: names of ours only, so that nothing from outside gets into a file name. */
export const exportName = (what: string, extension: string, nowMs: number): string => {
  const [day = '', time = ''] = new Date(nowMs).toISOString().split('T')
  return `${what}-${day.replaceAll('-', '')}-${time.slice(0, 5).replace(':', '')}.${extension}`
}

const types: Record<string, string> = {
  csv: 'text/csv',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  txt: 'text/plain',
}

/** Has the browser save text as a file; the name it has. */
export const saveText = (what: string, extension: 'csv' | 'json' | 'ndjson' | 'txt', text: string): string => {
  const name = exportName(what, extension, Date.now())
  saveFile(new Blob([text], { type: `${types[extension]};charset=utf-8` }), name)
  return name
}

/** Has the browser save a file under this name. */
export const saveFile = (file: Blob, name: string): void => {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Not at once: the browser may still be about to read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
