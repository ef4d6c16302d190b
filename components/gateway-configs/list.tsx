'use client'
import { Router } from 'lucide-react'
import dynamic from 'next/dynamic'
import { paths } from '#lib/browser/address/paths.ts'
import { type GatewayConfig, GatewayConfigCreate } from '#lib/contract/gateway-configs.ts'
import type { ConfigDialog as LoadedDialog } from './config-dialog.tsx'
import { ConfigList } from './config-list.tsx'
import { gatewayMutations, gatewayQueries } from './queries.ts'

// `dynamic` would lose the type parameters.
const ConfigDialog = dynamic(async () => (await import('./config-dialog.tsx')).ConfigDialog) as typeof LoadedDialog

const kind = {
  noun: 'gateway',
  nouns: 'gateways',
  title: 'Gateways',
  icon: Router,
  resource: 'gatewayConfigs' as const,
  apiPath: '/v1/gateway-configs',
  path: paths.gateways,
  cookie: 'gatewayColumns' as const,
  list: gatewayQueries.list,
  get: gatewayQueries.get,
  remove: gatewayMutations.delete,
  columns: [],
  intro: 'A gateway lets devboxes call an API without having its key: the service adds the key to their requests.',
  sample: {
    path: '/v1/gateway-configs',
    method: 'gatewayConfigs.create',
    body: { name: 'models', endpoint: 'https://api.example.com', auth_mechanism: { type: 'bearer' } },
    result: 'gateway',
  },
  uses: (
    { gateway_specs }: { gateway_specs?: Record<string, { gateway_config_id: string }> | null | undefined },
    id: string,
  ) => Object.values(gateway_specs ?? {}).some(({ gateway_config_id }) => gateway_config_id === id),
  Dialog: ({ config, onClose }: { config: GatewayConfig | undefined; onClose: () => void }) => (
    <ConfigDialog
      noun="gateway"
      needs={config ? 'gatewayConfigs.update' : 'gatewayConfigs.create'}
      description="Devboxes call the URL through the service, which adds the credential."
      config={config}
      hasTools={false}
      schema={GatewayConfigCreate}
      mutation={config ? gatewayMutations.update(config.id) : gatewayMutations.create()}
      onClose={onClose}
    />
  ),
}

export const GatewayList = (props: { serviceUrl: string; savedColumns: string }) => (
  <ConfigList kind={kind} {...props} />
)
