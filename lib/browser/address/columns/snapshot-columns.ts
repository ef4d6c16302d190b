import type { ListColumns } from '../list-columns.ts'

export const snapshotColumns: ListColumns = {
  labels: { name: 'Name', size: 'Size', id: 'Id', devbox: 'Devbox', metadata: 'Metadata', created: 'Created' },
  usual: ['name', 'size', 'id', 'devbox', 'metadata', 'created'],
  hasMetadata: true,
  cookie: 'snapshotColumns',
}
