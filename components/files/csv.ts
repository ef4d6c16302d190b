export interface CsvTable {
  rows: string[][]
  /** Whether the text continues after `rows`. */
  hasMore: boolean
}

/** Reads the first rows of a CSV or TSV text. Quotes as in RFC 4180; an unclosed quote ends with the text. */
export const parseCsv = (text: string, delimiter: string, maxRows: number): CsvTable => {
  const rows: string[][] = []
  let row: string[] = []
  let at = text.startsWith('\ufeff') ? 1 : 0
  while (at < text.length && rows.length < maxRows) {
    let value = ''
    if (text[at] === '"') {
      for (;;) {
        const close = text.indexOf('"', at + 1)
        value += text.slice(at + 1, close === -1 ? undefined : close)
        at = close === -1 ? text.length : close + 1
        if (text[at] !== '"') break
        value += '"'
      }
    }
    const start = at
    while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at++
    row.push(value + text.slice(start, at).replace(/\r$/, ''))
    if (text[at] === delimiter && at + 1 < text.length) at++
    else {
      if (text[at] === delimiter) row.push('')
      at++
      rows.push(row)
      row = []
    }
  }
  return { rows, hasMore: at < text.length }
}

const delimiters = [',', ';', '\t', '|']

/** The delimiter of a file: a tab for .tsv, otherwise the most frequent one in the first line. */
export const delimiterOf = (name: string, text: string): string => {
  if (/\.(tsv|tab)$/i.test(name)) return '\t'
  const [first = ''] = text.slice(0, 10_000).split('\n')
  const unquoted = first.replaceAll(/"[^"]*"/g, '')
  const counts = delimiters.map((each) => unquoted.split(each).length)
  return delimiters[counts.indexOf(Math.max(...counts))] as string
}
