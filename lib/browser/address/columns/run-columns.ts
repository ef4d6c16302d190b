import type { ListColumns } from '../list-columns.ts'

export const runColumns: ListColumns = {
  labels: {
    name: 'Name',
    agent: 'Agent',
    job: 'Job',
    state: 'State',
    score: 'Score',
    metadata: 'Metadata',
    duration: 'Duration',
    started: 'Started',
    id: 'Id',
  },
  usual: ['name', 'job', 'state', 'score', 'metadata', 'duration', 'started'],
  hasMetadata: true,
  cookie: 'runColumns',
}
