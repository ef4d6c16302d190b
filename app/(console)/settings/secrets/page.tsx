import type { Metadata } from 'next'
import { SecretList } from '#components/secrets/list.tsx'
import { secretQueries } from '#components/secrets/queries.ts'
import { SecretSearchParams } from '#components/secrets/search-params.ts'
import { listPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Secrets' })

export default listPage(SecretList, 'secretColumns', SecretSearchParams, (_view, api) => secretQueries.list(api))
