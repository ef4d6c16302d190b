import { queryOptions } from '@tanstack/react-query'
import { axonQueries } from '#components/axons/queries.ts'
import { benchmarkJobQueries } from '#components/benchmarks/job/queries.ts'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import type { Client } from '#lib/client/client.ts'
import type { Axon, AxonEvent } from '#lib/contract/axons.ts'
import { devboxTotals } from './devbox-totals.ts'

const ownDevboxes = { origin: 'own', limit: 200, include_total_count: false } as const

export const overviewQueries = {
  totals: devboxTotals,
  devboxes: (api?: Client) => devboxQueries.list(ownDevboxes, api),
  /** Running devboxes can be older than the newest page. */
  running: (api?: Client) => devboxQueries.list({ ...ownDevboxes, status: 'running' }, api),
  failed: (api?: Client) => devboxQueries.list({ ...ownDevboxes, status: 'failure' }, api),
  jobs: (api?: Client) => benchmarkJobQueries.list({ limit: 20, include_total_count: false }, api),
  axons: (api?: Client) => axonQueries.list({ limit: 12, include_total_count: true }, api),
  /** The last event of each axon that has one, by axon id. */
  lastEvents: (axons: readonly Pick<Axon, 'id'>[], api?: Client) =>
    queryOptions({
      queryKey: ['axons', 'last-events', axons.map(({ id }) => id)],
      queryFn: async ({ signal }): Promise<Record<string, AxonEvent>> => {
        const events = await Promise.all(axons.map(({ id }) => axonQueries.lastEvent(id, signal, api)))
        return Object.fromEntries(events.flatMap((event) => (event ? [[event.axon_id, event]] : [])))
      },
      refetchInterval: pollEvery(30_000),
    }),
}
