import type { Alert, AlertHistory } from '#lib/wire/alerts.ts'

/** A page of the history, beginning after the alert of that id. */
type ReadPage = (startingAfter: string | undefined) => AlertHistory

/** All of the history that was asked for as a file, page by page, so that neither its length nor its reader matters. */
export const alertExport = (format: keyof typeof formats, read: ReadPage): Response => {
  const { type, write } = formats[format]
  const encoder = new TextEncoder()
  const parts = write(pages(read))
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const { value, done } = parts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
  })
  return new Response(body, {
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="alerts.${format}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}

function* pages(read: ReadPage): Generator<readonly Alert[]> {
  let last: string | undefined
  for (;;) {
    const { alerts, has_more } = read(last)
    yield alerts
    last = alerts.at(-1)?.id
    if (!has_more) return
  }
}

function* csvOf(all: Iterable<readonly Alert[]>): Generator<string> {
  yield line(Object.keys(columns))
  for (const alerts of all)
    yield alerts.map((alert) => line(Object.values(columns).map((of) => cell(of(alert))))).join('')
}

function* jsonOf(all: Iterable<readonly Alert[]>): Generator<string> {
  let before = '['
  for (const alerts of all)
    for (const alert of alerts) {
      yield `${before}\n${JSON.stringify(alert, null, 2)}`
      before = ','
    }
  yield before === '[' ? '[]\n' : '\n]\n'
}

const formats = {
  csv: { type: 'text/csv; charset=utf-8', write: csvOf },
  json: { type: 'application/json', write: jsonOf },
}

const columns = {
  id: ({ id }: Alert) => id,
  kind: ({ kind }: Alert) => kind,
  devbox_id: ({ devbox_id }: Alert) => devbox_id,
  devbox_name: ({ devbox_name }: Alert) => devbox_name ?? '',
  job_id: ({ job }: Alert) => job?.id ?? '',
  job_name: ({ job }: Alert) => job?.name ?? '',
  metadata: ({ metadata }: Alert) => JSON.stringify(metadata),
  deadline: ({ deadline_ms }: Alert) => new Date(deadline_ms).toISOString(),
  state: ({ state }: Alert) => state,
  first_heard: ({ first_heard_ms }: Alert) => new Date(first_heard_ms).toISOString(),
  found_late: ({ found_late }: Alert) => String(found_late),
  acknowledged_by: ({ acknowledged_by }: Alert) => acknowledged_by ?? '',
  acknowledged: ({ acknowledged_ms }: Alert) =>
    acknowledged_ms === null ? '' : new Date(acknowledged_ms).toISOString(),
  closed: ({ closed_ms }: Alert) => (closed_ms === null ? '' : new Date(closed_ms).toISOString()),
}

/** A cell that a spreadsheet would take for a formula begins with an apostrophe. */
const cell = (value: string) => {
  const inert = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

const line = (cells: readonly string[]) => `${cells.join(',')}\r\n`
