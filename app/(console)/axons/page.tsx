import type { Metadata } from 'next'
import { AxonList } from '#components/axons/list.tsx'
import { axonQueries, isDrawnByServer } from '#components/axons/queries.ts'
import { AxonSearchParams, axonQueryOf } from '#components/axons/search-params.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Axons' })

export default listPage(AxonList, 'axonColumns', AxonSearchParams, (view, api) =>
  isDrawnByServer(view.limit) ? axonQueries.rows(axonQueryOf(view), view.limit, api) : null,
)
