export interface KeyValueRow {
  key: string
  value: string
}

/** Skips empty rows. Fails on a value without a key and on a repeated key. */
export const rowsToMap = (
  rows: readonly KeyValueRow[],
): { ok: true; map: Record<string, string> } | { ok: false; message: string; index: number } => {
  const map = new Map<string, string>()
  for (const [index, { key, value }] of rows.entries()) {
    if (key === '' && value === '') continue
    if (key === '') return { ok: false, index, message: `Row ${index + 1} has a value but no key` }
    if (map.has(key)) return { ok: false, index, message: `${key} is given twice` }
    map.set(key, value)
  }
  return { ok: true, map: Object.fromEntries(map) }
}

/** Parses pasted `KEY=VALUE` lines, as in an .env file; null for other text. */
export const parseAssignments = (text: string): KeyValueRow[] | null => {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  const rows = lines
    .map((line) => /^(?:export\s+)?([^=\s"']+)\s*=(.*)$/.exec(line))
    .map((match) => match && toRow(match))
  return rows.length > 0 && rows.every((row) => row !== null) ? rows : null
}

const toRow = ([, key = '', value = '']: RegExpExecArray): KeyValueRow => {
  const trimmed = value.trim()
  const quoted = /^(["'])([\s\S]*)\1$/.exec(trimmed)
  return { key, value: quoted?.[2] ?? trimmed }
}
