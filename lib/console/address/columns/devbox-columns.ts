import type { ListColumns } from '../list-columns.ts'

export const devboxColumns: ListColumns = {
  labels: {
    name: 'Name',
    status: 'Status',
    id: 'Id',
    metadata: 'Metadata',
    created: 'Created',
    lifetime: 'Lifetime',
    'time-left': 'Time left',
    ended: 'Ended',
  },
  usual: ['name', 'status', 'id', 'metadata', 'created', 'lifetime', 'time-left'],
  hasMetadata: true,
  cookie: 'devboxColumns',
}
