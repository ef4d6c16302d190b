import type { Agent } from '#lib/contract/agents.ts'

export const deleteRefusal = ({ is_public }: Agent): string | null =>
  is_public ? 'public agents belong to the service' : null
