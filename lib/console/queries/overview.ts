import { queryOptions } from '@tanstack/react-query'
import type { Client } from '#lib/client/client.ts'
import type { Axon, AxonEvent } from '#lib/contract/axons.ts'
import { askingEvery } from '../api/failures.ts'
import { axonQueries } from './axons.ts'
import { benchmarkJobQueries } from './benchmark-jobs.ts'
import { devboxQueries } from './devboxes.ts'

/** The lists the overview counts and shows from: pages of the same lists the other pages show. */
export const overviewQueries = {
  devboxes: (api?: Client) => devboxQueries.list({ limit: 200, include_total_count: true }, api),
  /** Those that run are few beside all that have been: none is left out because newer ones have ended. */
  running: (api?: Client) => devboxQueries.list({ status: 'running', limit: 200, include_total_count: true }, api),
  jobs: (api?: Client) => benchmarkJobQueries.list({ limit: 20, include_total_count: false }, api),
  axons: (api?: Client) => axonQueries.list({ limit: 12, include_total_count: true }, api),
  /** The last event of each of these axons that has one, by the axon's id: no list of the service tells. */
  lastEvents: (axons: readonly Pick<Axon, 'id'>[], api?: Client) =>
    queryOptions({
      queryKey: ['axons', 'last-events', axons.map(({ id }) => id)],
      queryFn: async ({ signal }): Promise<Record<string, AxonEvent>> => {
        const found = await Promise.all(axons.map(({ id }) => axonQueries.lastEvent(id, signal, api)))
        return Object.fromEntries(found.flatMap((event) => (event ? [[event.axon_id, event]] : [])))
      },
      refetchInterval: askingEvery(30_000),
    }),
}
