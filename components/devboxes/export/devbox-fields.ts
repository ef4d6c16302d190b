import { type ExportFields, timeField } from '#lib/browser/lists/export.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { timeLeftOf } from '../time-left.tsx'

/** What stands in a file for each column of the list of devboxes. */
export const devboxFields = (evictions: ReadonlyMap<string, Alert> | undefined): ExportFields<Devbox> => ({
  name: { name: 'name', value: ({ name }) => name },
  status: { name: 'status', value: ({ status }) => status },
  id: { name: 'id', value: ({ id }) => id },
  metadata: { name: 'metadata', value: ({ metadata }) => metadata },
  created: timeField('create_time_ms', ({ create_time_ms }) => create_time_ms),
  lifetime: {
    name: 'lifetime_ms',
    value: ({ create_time_ms, end_time_ms }) => Math.max(0, (end_time_ms ?? Date.now()) - create_time_ms),
  },
  'time-left': timeField('unattended_end_ms', (devbox) => timeLeftOf(devbox, evictions?.get(devbox.id))?.at_ms),
  ended: timeField('end_time_ms', ({ end_time_ms }) => end_time_ms),
})
