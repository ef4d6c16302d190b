import * as z from 'zod/mini'
import { queryInt } from '#lib/contract/common.ts'
import { paths } from './paths.ts'
import { searchOf } from './search.ts'

/** What the address of an axon's log says: which events are shown, and which of them is open. */
export const AxonEventsView = z.object({
  tab: z.optional(z.literal('events')),
  /** A sequence. */
  event: z.optional(queryInt(0, Number.MAX_SAFE_INTEGER)),
  origin: z.optional(z.string()),
  /** Parts of the type, the source and the payload. */
  type: z.optional(z.string()),
  source: z.optional(z.string()),
  payload: z.optional(z.string()),
})
export type AxonEventsView = z.output<typeof AxonEventsView>

export const axonEventsPath =
  (id: string) =>
  ({ event, origin, type, source, payload }: Partial<AxonEventsView>): string =>
    `${paths.axon(id)}${searchOf({ tab: 'events', event, origin, type, source, payload })}`
