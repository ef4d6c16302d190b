import { serviceNow } from '#lib/client/clock.ts'
import { csvLines } from '#lib/protocol/csv.ts'

export interface ExportColumn<Row> {
  name: string
  value: (row: Row) => unknown
  /** In CSV, if it reads better than the value. */
  text?: (row: Row) => string
}

/** Starts with a byte order mark, so that spreadsheets read UTF-8. */
export const toCsv = <Row>(rows: readonly Row[], columns: readonly ExportColumn<Row>[]): string =>
  `\uFEFF${csvLines([
    columns.map(({ name }) => name),
    ...rows.map((row) => columns.map(({ value, text }) => (text ? text(row) : value(row)))),
  ])}`

export const toJson = <Row>(rows: readonly Row[], columns: readonly ExportColumn<Row>[]): string =>
  `${JSON.stringify(
    rows.map((row) => objectOf(row, columns)),
    null,
    2,
  )}\n`

export const toJsonLines = <Row>(rows: readonly Row[], columns: readonly ExportColumn<Row>[]): string =>
  rows.map((row) => `${JSON.stringify(objectOf(row, columns))}\n`).join('')

const objectOf = <Row>(row: Row, columns: readonly ExportColumn<Row>[]) =>
  Object.fromEntries(columns.map(({ name, value }) => [name, value(row) ?? null]))

export const exportFormats = { csv: 'CSV', json: 'JSON', ndjson: 'JSON lines' } as const
export type ExportFormat = keyof typeof exportFormats

const writers = { csv: toCsv, json: toJson, ndjson: toJsonLines }

export const saveRows = <Row>(
  what: string,
  format: ExportFormat,
  rows: readonly Row[],
  columns: readonly ExportColumn<Row>[],
): string => saveText(what, format, writers[format](rows, columns))

/** `axons-20261121-1305.csv`. `what` is never user input. */
const exportName = (what: string, extension: string, nowMs: number): string => {
  const [day = '', time = ''] = new Date(nowMs).toISOString().split('T')
  return `${what}-${day.replaceAll('-', '')}-${time.slice(0, 5).replace(':', '')}.${extension}`
}

const types: Record<string, string> = {
  csv: 'text/csv',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  txt: 'text/plain',
}

export const saveText = (what: string, extension: 'csv' | 'json' | 'ndjson' | 'txt', text: string): string => {
  const name = exportName(what, extension, serviceNow())
  saveFile(new Blob([text], { type: `${types[extension]};charset=utf-8` }), name)
  return name
}

export const saveFile = (file: Blob, name: string): void => {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser may read it later.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
