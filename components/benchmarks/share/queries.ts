import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { paths } from '#lib/browser/address/paths.ts'
import { fetchConsoleJson, sendToConsole } from '#lib/browser/api/console-api.ts'
import type { CreatedShare, Share, ShareList } from '#lib/protocol/shares.ts'

const listKey = ['shares'] as const

export const shareQueries = {
  list: () =>
    queryOptions({
      queryKey: listKey,
      queryFn: ({ signal }) => fetchConsoleJson<ShareList>('/api/shares', signal),
      staleTime: 0,
    }),
}

export type NewShare = Pick<Share, 'kind' | 'params' | 'logs'> & { expires_days: number }

export const shareMutations = {
  create: () =>
    mutationOptions({
      mutationFn: (share: NewShare) => sendToConsole<CreatedShare>('POST', '/api/shares', share),
      onSuccess: (_created, _share, _result, { client }) => client.invalidateQueries({ queryKey: listKey }),
      // The link must not stay in memory.
      gcTime: 0,
    }),
  revoke: () =>
    mutationOptions({
      mutationFn: (id: string) => sendToConsole('DELETE', `/api/shares/${encodeURIComponent(id)}`),
      onSettled: (_answer, _error, _id, _result, { client }) => client.invalidateQueries({ queryKey: listKey }),
    }),
}

export type Shared = Pick<Share, 'kind' | 'params'>

/** What the report at this address shows. */
export const sharedAt = (kind: Share['kind'], address: string, job?: string): Shared => {
  const params = Object.fromEntries(new URLSearchParams(address.split('?')[1]))
  const { format: _, ...rest } = params
  return { kind, params: job === undefined ? rest : { ...rest, job } }
}

export const isSameSubject = (a: Shared, b: Shared): boolean =>
  a.kind === b.kind && a.params.job === b.params.job && a.params.jobs === b.params.jobs

export const sharedPath = ({ kind, params }: Shared): string => {
  const { job = '', ...choice } = params
  const page = { job: paths.benchmarkJob(job), comparison: paths.compare(), trend: paths.trend() }[kind]
  const search = new URLSearchParams(kind === 'job' ? choice : params)
  return search.size > 0 ? `${page}?${search}` : page
}
