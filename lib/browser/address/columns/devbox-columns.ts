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
  // Without the lifetime, which of a running devbox says again when it was created.
  usual: ['name', 'status', 'id', 'metadata', 'created', 'time-left'],
  hasMetadata: true,
  cookie: 'devboxColumns',
}
