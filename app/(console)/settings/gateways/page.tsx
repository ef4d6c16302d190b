import type { Metadata } from 'next'
import { GatewayList } from '#components/gateway-configs/list.tsx'
import { gatewayQueries } from '#components/gateway-configs/queries.ts'
import { ConfigSearchParams, configQueryOf } from '#components/gateway-configs/search-params.ts'
import { listPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Gateways' })

export default listPage(GatewayList, 'gatewayColumns', ConfigSearchParams, (view, api) =>
  gatewayQueries.list(configQueryOf(view), api),
)
