import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import type { Deps } from '#lib/service/deps.ts'
import { implement } from '#lib/service/http/implement.ts'
import { envelope, pageOf } from './pages.ts'

export const benchmarkJobRoutes = ({ store, jobs }: Deps) =>
  implement(benchmarkJobs, {
    list: ({ query, account }) =>
      envelope(
        'jobs',
        pageOf(
          query,
          'benchmark job',
          (id) => store.benchmarkJobs.position(account, id),
          (before) => store.benchmarkJobs.list(account, query, before),
        ),
      ),
    create: ({ body, account, requestId }) => jobs.create(account, body, requestId),
    get: ({ params, account }) => jobs.get(account, params.id),
  })
