import { csvLines } from '#lib/wire/csv.ts'

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
    rows.map((row) => Object.fromEntries(columns.map(({ name, value }) => [name, value(row) ?? null]))),
    null,
    2,
  )}\n`

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

/** Has the browser save text as a file. */
export const saveText = (what: string, extension: 'csv' | 'json' | 'ndjson' | 'txt', text: string): void =>
  saveFile(new Blob([text], { type: `${types[extension]};charset=utf-8` }), exportName(what, extension, Date.now()))

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
