// A spreadsheet takes such a cell for a formula, full-width signs included, and some look past blanks before it.
const formula = /^[\s\uFEFF]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]|^[\t\r\n]/

const csvCell = (value: unknown): string => {
  const text =
    value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  // A number is none, whatever its sign.
  const isSafe = typeof value === 'number' || !formula.test(text)
  return `"${(isSafe ? text : `'${text}`).replaceAll('"', '""')}"`
}

/** RFC 4180, every cell quoted. */
export const csvLines = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
