import { expect, it } from 'vitest'
import { parseQuery } from '#lib/contract/query-string.ts'
import type { Snapshot } from '#lib/contract/snapshots.ts'
import { SnapshotSearchParams, snapshotMatchesSearch, snapshotQueryOf } from './search-params.ts'

const snapshot = (change: Partial<Snapshot>): Snapshot => ({
  id: 'snp_1',
  create_time_ms: 0,
  metadata: {},
  source_devbox_id: 'dbx_9',
  ...change,
})

it('searches name, message and ID, ignoring case', () => {
  const rows = [
    snapshot({ id: 'snp_1', name: 'After setup' }),
    snapshot({ id: 'snp_2', name: null, commit_message: 'setup again' }),
    snapshot({ id: 'snp_3' }),
  ]
  const found = (search?: string) => rows.filter((row) => snapshotMatchesSearch(row, search)).map(({ id }) => id)
  expect([found('SETUP'), found('snp_3'), found('dbx_9'), found()]).toEqual([
    ['snp_1', 'snp_2'],
    ['snp_3'],
    [],
    ['snp_1', 'snp_2', 'snp_3'],
  ])
})

it('sends the API only its own filters', () => {
  const read = parseQuery(SnapshotSearchParams, 'search=a&columns=name&devbox_id=dbx_1')
  if (!read.ok) throw new Error(JSON.stringify(read.problems))
  expect(snapshotQueryOf(read.value)).toEqual({ devbox_id: 'dbx_1', limit: 20, include_total_count: true })
})
