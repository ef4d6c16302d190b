import { ApiError, type Client, createClient } from '#lib/client/client.ts'
import { browserApi } from '../api/browser-api.ts'
import { EventTail } from '../live/event-tail.ts'

const pageRows = 500

/** The log of an axon, to be followed while it is on screen. Not in the query cache: nothing else reads it. */
export const axonEvents = (id: string, api: Client = browserApi): EventTail =>
  new EventTail({
    page: (before, signal) =>
      api.axons.events({
        params: { id },
        query: { starting_after: before, limit: pageRows, include_total_count: false },
        signal,
      }),
    open: (after, signal, heard) =>
      watchedApi(heard).axons.subscribe({ params: { id }, query: { after_sequence: after }, signal }),
    hasEnded: async (signal) => (await api.axons.get({ params: { id }, signal })).deleted_at_ms != null,
    isLost: (error) => error instanceof ApiError && gone.has(error.code),
    isIdleEnd: (error) => error instanceof ApiError && error.code === 'timeout',
  })

/** The stream's comments, which tell that it lives, are dropped by whoever reads its events; this hears them before. */
const watchedApi = (heard: () => void): Client =>
  createClient({
    baseUrl: '/api',
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      heard()
      const listening = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          heard()
          controller.enqueue(chunk)
        },
      })
      return new Response(response.body?.pipeThrough(listening), response)
    },
  })

const gone = new Set<string>([
  'not_found',
  'unauthenticated',
  'not_implemented',
  'forbidden',
  'conflict',
  'invalid_argument',
])
