// Spreadsheets evaluate such cells as formulas, even with full-width signs or leading spaces.
const formula = /^[\s\uFEFF]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]|^[\t\r\n]/

const csvCell = (value: unknown): string => {
  const text =
    value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  const isSafe = typeof value === 'number' || !formula.test(text)
  return `"${(isSafe ? text : `'${text}`).replaceAll('"', '""')}"`
}

/** RFC 4180, every cell quoted. */
export const csvLines = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
