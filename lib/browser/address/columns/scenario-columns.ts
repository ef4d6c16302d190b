import type { ListColumns } from '../list-columns.ts'

export const scenarioColumns: ListColumns = {
  labels: { name: 'Name', verifier: 'Verifier', status: 'Status', metadata: 'Metadata', id: 'Id' },
  usual: ['name', 'verifier', 'status', 'metadata', 'id'],
  hasMetadata: true,
  cookie: 'scenarioColumns',
}
