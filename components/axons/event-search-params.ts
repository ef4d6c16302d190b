import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { queryInt } from '#lib/contract/common.ts'

/** Filters of an axon's event log, and the event that is open. */
export const EventSearchParams = z.object({
  /** Sequence of the open event. */
  event: z.optional(queryInt(0, Number.MAX_SAFE_INTEGER)),
  origin: z.optional(z.string()),
  type: z.optional(z.string()),
  source: z.optional(z.string()),
  payload: z.optional(z.string()),
})
export type EventSearchParams = z.output<typeof EventSearchParams>

export const axonEventsPath =
  (id: string) =>
  ({ event, origin, type, source, payload }: Partial<EventSearchParams>): string =>
    `${paths.axon(id, 'events')}${searchOf({ event, origin, type, source, payload })}`
