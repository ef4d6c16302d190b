import { isFinal } from '#lib/client/api-error.ts'
import { axons } from '#lib/contract/axons.ts'
import { browserApi } from '../api/browser-api.ts'
import { EventTail } from '../live/event-tail.ts'
import { follow } from '../live/follow.ts'

const pageApi = browserApi({ axons })
type Api = typeof pageApi

const pageRows = 500

/** The log of an axon, to be followed while it is on screen. Not in the query cache: nothing else reads it. */
export const axonEvents = (id: string, api: Api = pageApi): EventTail =>
  new EventTail({
    page: (before, signal) =>
      api.axons.events({
        params: { id },
        query: { starting_after: before, limit: pageRows, include_total_count: false },
        signal,
      }),
    follow: (options) => follow({ endpoint: 'axons.subscribe', params: { id } }, options),
    hasEnded: async (signal) => (await api.axons.get({ params: { id }, signal })).deleted_at_ms != null,
    isLost: isFinal,
  })
