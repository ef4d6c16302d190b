import type { QueryClient } from '@tanstack/react-query'
import type { ServiceSupport } from '#lib/protocol/support.ts'

export const supportKey = ['support'] as const

/** Whether the service is known to lack an operation. */
export const isUnsupported = (client: QueryClient, endpointId: string): boolean =>
  client.getQueryData<ServiceSupport>(supportKey)?.operations[endpointId] === 'no'
