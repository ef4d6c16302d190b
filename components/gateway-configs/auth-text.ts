import type { GatewayConfig } from '#lib/contract/gateway-configs.ts'

export const authWords: Record<string, string> = { bearer: 'Bearer token', basic: 'Basic', header: 'Header' }

export const authText = ({ type, key }: GatewayConfig['auth_mechanism']): string =>
  key ? `Header ${key}` : (authWords[type] ?? type)
