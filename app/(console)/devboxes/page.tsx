import type { Metadata } from 'next'
import { DevboxList } from '#components/devboxes/list.tsx'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { DevboxSearchParams, devboxQueryOf } from '#components/devboxes/search-params.ts'
import { forService } from '#lib/browser/lists/service-sort.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Devboxes' })

export default listPage(
  DevboxList,
  'devboxColumns',
  DevboxSearchParams,
  (view, api, canSort) => devboxQueries.list(forService(devboxQueryOf(view), canSort), api),
  'devboxes.list',
)
