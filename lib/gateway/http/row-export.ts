interface RowExport<Row extends { id: string }> {
  name: string
  format: 'csv' | 'json'
  /** A page of rows after the given id. */
  read: (startingAfter: string | undefined) => { rows: readonly Row[]; has_more: boolean }
  /** CSV columns; JSON contains whole rows. */
  columns: Record<string, (row: Row) => string>
}

/** Streams all rows as a file, page by page. */
export const rowExport = <Row extends { id: string }>({ name, format, read, columns }: RowExport<Row>): Response => {
  const encoder = new TextEncoder()
  const parts = format === 'csv' ? csvOf(pages(read), columns) : jsonOf(pages(read))
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const { value, done } = parts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
  })
  return new Response(body, {
    headers: {
      'content-type': { csv: 'text/csv; charset=utf-8', json: 'application/json' }[format],
      'content-disposition': `attachment; filename="${name}.${format}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}

function* pages<Row extends { id: string }>(read: RowExport<Row>['read']): Generator<readonly Row[]> {
  let last: string | undefined
  for (;;) {
    const { rows, has_more } = read(last)
    yield rows
    last = rows.at(-1)?.id
    if (!has_more) return
  }
}

function* csvOf<Row>(all: Iterable<readonly Row[]>, columns: Record<string, (row: Row) => string>): Generator<string> {
  yield line(Object.keys(columns))
  for (const rows of all)
    yield rows.map((row) => line(Object.values(columns).map((cellOf) => cell(cellOf(row))))).join('')
}

function* jsonOf(all: Iterable<readonly unknown[]>): Generator<string> {
  let before = '['
  for (const rows of all)
    for (const row of rows) {
      yield `${before}\n${JSON.stringify(row, null, 2)}`
      before = ','
    }
  yield before === '[' ? '[]\n' : '\n]\n'
}

/** Escapes cells that a spreadsheet would run as formulas. */
const cell = (value: string) => {
  const inert = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

const line = (cells: readonly string[]) => `${cells.join(',')}\r\n`
