import type { AxonEvent } from '#lib/contract/axons.ts'

export const originWords: Record<string, string> = {
  EXTERNAL_EVENT: 'External',
  AGENT_EVENT: 'Agent',
  USER_EVENT: 'User',
  SYSTEM_EVENT: 'System',
}

/** One that is not known yet is shown as it is. */
export const originWord = (origin: AxonEvent['origin']): string =>
  Object.hasOwn(originWords, origin) ? (originWords[origin] as string) : origin
