import type { SampleCall } from '#lib/browser/api/code-samples.ts'
import { type KeyScope, resourceTypes } from '#lib/contract/keys.ts'

export type Access = KeyScope['access_level']

interface KeyWishes {
  name: string
  /** Until the key expires; 0 for never. */
  days: number
  /** By resource type; null for a key without restrictions. */
  access: Readonly<Record<string, Access>> | null
  nowMs: number
}

const dayMs = 24 * 60 * 60 * 1000

export const keyCall = ({ name, days, access, nowMs }: KeyWishes): SampleCall => {
  const common = {
    ...(name.trim() && { name: name.trim() }),
    ...(days > 0 && { expires_at_ms: Math.ceil((nowMs + days * dayMs) / dayMs) * dayMs }),
  }
  if (!access) return { path: '/v1/apikeys', method: 'apikeys.create', body: common, result: 'key' }
  const scopes = resourceTypes
    .map((resource_type) => ({ resource_type, access_level: access[resource_type] ?? 'ACCESS_LEVEL_NONE' }))
    .filter(({ access_level }) => access_level !== 'ACCESS_LEVEL_NONE')
  return {
    path: '/v1/restricted_keys',
    method: 'restrictedKeys.create',
    body: { ...common, scopes },
    result: 'key',
  }
}

/** `RESOURCE_TYPE_DEVBOXES` is `Devboxes`. */
export const resourceLabel = (type: string): string => {
  const words = type.replace('RESOURCE_TYPE_', '').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
