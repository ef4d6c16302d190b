import type { Metadata } from 'next'
import { ObjectList } from '#components/objects/list.tsx'
import { objectQueries } from '#components/objects/queries.ts'
import { ObjectSearchParams, objectQueryOf } from '#components/objects/search-params.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Objects' })

export default listPage(ObjectList, 'objectColumns', ObjectSearchParams, (view, api) =>
  objectQueries.list(objectQueryOf(view), api),
)
