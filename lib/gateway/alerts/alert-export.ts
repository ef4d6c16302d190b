import type { Alert, AlertHistory } from '#lib/protocol/alerts.ts'
import { rowExport } from '../http/row-export.ts'

/** The whole history as a file. */
export const alertExport = (
  format: 'csv' | 'json',
  read: (startingAfter: string | undefined) => AlertHistory,
): Response =>
  rowExport({
    name: 'alerts',
    format,
    columns,
    read: (startingAfter) => {
      const { alerts, has_more } = read(startingAfter)
      return { rows: alerts, has_more }
    },
  })

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
  stopped: ({ stopped }: Alert) => stopped?.how ?? '',
  stopped_by: ({ stopped }: Alert) => stopped?.by ?? '',
  acknowledged_by: ({ acknowledged_by }: Alert) => acknowledged_by ?? '',
  acknowledged: ({ acknowledged_ms }: Alert) =>
    acknowledged_ms === null ? '' : new Date(acknowledged_ms).toISOString(),
  closed: ({ closed_ms }: Alert) => (closed_ms === null ? '' : new Date(closed_ms).toISOString()),
}
