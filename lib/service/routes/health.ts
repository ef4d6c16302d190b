import { health } from '#lib/contract/health.ts'
import { implement } from '#lib/service/http/implement.ts'
import type { Deps } from '#lib/service/parts.ts'

export const healthRoutes = ({ version }: Deps) =>
  implement(health, { check: () => ({ status: 'ok' as const, version }) })
