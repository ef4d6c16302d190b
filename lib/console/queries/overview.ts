import type { Client } from '#lib/client/client.ts'
import { axonQueries } from './axons.ts'
import { benchmarkJobQueries } from './benchmark-jobs.ts'
import { devboxQueries } from './devboxes.ts'

/** The lists the overview counts and shows from: pages of the same lists the other pages show. */
export const overviewQueries = {
  devboxes: (api?: Client) => devboxQueries.list({ limit: 200, include_total_count: true }, api),
  /** Those that run are few beside all that have been: none is left out because newer ones have ended. */
  running: (api?: Client) => devboxQueries.list({ status: 'running', limit: 200, include_total_count: true }, api),
  jobs: (api?: Client) => benchmarkJobQueries.list({ limit: 20, include_total_count: false }, api),
  axons: (api?: Client) => axonQueries.list({ limit: 6, include_total_count: true }, api),
}
