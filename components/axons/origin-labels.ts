import type { AxonEvent } from '#lib/contract/axons.ts'

export const originLabels: Record<string, string> = {
  EXTERNAL_EVENT: 'External',
  AGENT_EVENT: 'Agent',
  USER_EVENT: 'User',
  SYSTEM_EVENT: 'System',
}

/** Unknown origins are shown as they are. */
export const originLabel = (origin: AxonEvent['origin']): string =>
  Object.hasOwn(originLabels, origin) ? (originLabels[origin] as string) : origin
