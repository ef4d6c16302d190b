import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { implement, notModified } from '#lib/service/http/implement.ts'
import type { Deps } from '#lib/service/parts.ts'
import { listPage } from './pages.ts'

export const benchmarkJobRoutes = ({ store, jobs, imports }: Deps) =>
  implement(benchmarkJobs, {
    list: ({ query, account }) => listPage('jobs', 'benchmark job', store.benchmarkJobs, account, query),
    create: ({ body, account }) => jobs.create(account, body),
    import: ({ body, file, account }) => imports.add(account, file, body),
    get: ({ params, account, ifNoneMatch, setHeader }) => {
      const etag = jobs.etag(account, params.id)
      if (etag) setHeader('etag', etag)
      return etag && etag === ifNoneMatch ? notModified : jobs.get(account, params.id)
    },
    setConcurrency: ({ params, body, account }) => jobs.setConcurrency(account, params.id, body.n_concurrent_trials),
    cancel: ({ params, account }) => jobs.cancel(account, params.id),
  })
