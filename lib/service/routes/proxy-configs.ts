import { type CustomHeader, type GatewayConfig, gatewayConfigs } from '#lib/contract/gateway-configs.ts'
import { type McpConfig, mcpConfigs } from '#lib/contract/mcp-configs.ts'
import { implement } from '#lib/service/http/implement.ts'
import { invalid, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'
import type { ProxyConfigStore } from '#lib/service/store/proxy-configs.ts'
import { listPage } from './pages.ts'

export const gatewayConfigRoutes = ({ store, now }: Deps) => {
  const configs = configHandlers('gateway config', store.gatewayConfigs, store.secrets, now)
  return implement(gatewayConfigs, {
    ...configs,
    list: ({ query, account }) => listPage('gateway_configs', 'gateway config', store.gatewayConfigs, account, query),
  })
}

export const mcpConfigRoutes = ({ store, now }: Deps) => {
  const configs = configHandlers('MCP config', store.mcpConfigs, store.secrets, now)
  return implement(mcpConfigs, {
    ...configs,
    list: ({ query, account }) => listPage('mcp_configs', 'MCP config', store.mcpConfigs, account, query),
    // Unspecified: the mechanism of a config created without one.
    create: ({ body, ...caller }) =>
      configs.create({ ...caller, body: { ...body, auth_mechanism: body.auth_mechanism ?? { type: 'bearer' } } }),
  })
}

type Body<C> = { [K in keyof C]?: C[K] | null | undefined }
interface ById {
  params: { id: string }
  account: string
}

const configHandlers = <C extends GatewayConfig | McpConfig>(
  what: string,
  store: ProxyConfigStore<C>,
  secrets: Deps['store']['secrets'],
  now: () => number,
) => {
  const get = ({ params: { id }, account }: ById) => store.get(account, id) ?? notFound(what, id)
  // Unspecified: 409, as for secrets.
  const rejectTakenName = (account: string, name: string | null | undefined, ownId?: string) => {
    const holder = name ? store.idByName(account, name) : undefined
    if (holder !== undefined && holder !== ownId)
      throw new ServiceError('conflict', `${holder} is already named ${name}`, { field: 'name', shouldRetry: false })
  }
  const withSecretIds = (account: string, body: Body<C>): Body<C> => {
    const custom_headers = body.custom_headers?.map((header: CustomHeader, i: number) => {
      if (!header.secret) return header
      const secret = secrets.idOf(account, header.secret)
      const field = `custom_headers.${i}.secret`
      if (secret === undefined) throw invalid({ field, message: `secret ${header.secret} not found` })
      return { ...header, secret }
    })
    return { ...body, custom_headers }
  }
  return {
    create: ({ body, account }: { body: Body<C>; account: string }) => {
      rejectTakenName(account, body.name)
      return store.create(account, withSecretIds(account, body), now())
    },
    get,
    update: ({ body, ...call }: ById & { body: Body<C> }) => {
      const { id } = get(call)
      rejectTakenName(call.account, body.name, id)
      return store.update(call.account, id, withSecretIds(call.account, body))
    },
    delete: (call: ById) => {
      const config = get(call)
      store.delete(config.id)
      return config
    },
  }
}
