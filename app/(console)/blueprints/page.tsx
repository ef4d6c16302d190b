import type { Metadata } from 'next'
import { BlueprintList } from '#components/blueprints/list.tsx'
import { blueprintQueries } from '#components/blueprints/queries.ts'
import { BlueprintSearchParams, blueprintQueryOf } from '#components/blueprints/search-params.ts'
import { forService } from '#lib/browser/lists/service-sort.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Blueprints' })

export default listPage(
  BlueprintList,
  'blueprintColumns',
  BlueprintSearchParams,
  (view, api, canSort) => blueprintQueries.list(forService(blueprintQueryOf(view), canSort), api),
  'blueprints.list',
)
