import type { Metadata } from 'next'
import { SnapshotList } from '#components/snapshots/list.tsx'
import { snapshotQueries } from '#components/snapshots/queries.ts'
import { SnapshotSearchParams, snapshotQueryOf } from '#components/snapshots/search-params.ts'
import { forService } from '#lib/browser/lists/service-sort.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Snapshots' })

export default listPage(
  SnapshotList,
  'snapshotColumns',
  SnapshotSearchParams,
  (view, api, canSort) => snapshotQueries.list(forService(snapshotQueryOf(view), canSort), api),
  'snapshots.list',
)
