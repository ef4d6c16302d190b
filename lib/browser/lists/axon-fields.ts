import type { Axon } from '#lib/contract/axons.ts'
import { columnValue } from '../address/axon-view.ts'
import { type ExportFields, timeField } from './export.ts'

/** What stands in a file for each column of the axon list. */
export const axonFields: ExportFields<Axon> = {
  name: { name: 'name', value: ({ name }) => name },
  id: { name: 'id', value: ({ id }) => id },
  state: { name: 'state', value: (axon) => columnValue(axon, 'state') },
  metadata: { name: 'metadata', value: ({ metadata }) => metadata },
  created: timeField('created_at_ms', ({ created_at_ms }) => created_at_ms),
  deleted: timeField('deleted_at_ms', ({ deleted_at_ms }) => deleted_at_ms),
}
