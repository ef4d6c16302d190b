import type { ListColumns } from '../list-columns.ts'

export const axonColumns = {
  labels: { name: 'Name', id: 'Id', state: 'State', metadata: 'Metadata', created: 'Created', deleted: 'Deleted' },
  usual: ['name', 'id', 'state', 'metadata', 'created'],
  hasMetadata: true,
  cookie: 'axonColumns',
} as const satisfies ListColumns
