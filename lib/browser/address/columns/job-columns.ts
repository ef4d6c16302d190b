import type { ListColumns } from '../list-columns.ts'

export const jobColumns: ListColumns = {
  labels: {
    name: 'Name',
    state: 'State',
    agents: 'Agents and scores',
    source: 'Source',
    progress: 'Trials',
    counts: 'Outcomes',
    duration: 'Duration',
    created: 'Created',
    id: 'Id',
  },
  usual: ['name', 'state', 'agents', 'source', 'progress', 'counts', 'duration', 'created'],
  hasMetadata: false,
  cookie: 'jobColumns',
}
