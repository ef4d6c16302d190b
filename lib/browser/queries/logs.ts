import { queryOptions } from '@tanstack/react-query'
import { logs } from '#lib/contract/logs.ts'
import { runningCommands } from '../alerts/running-commands.ts'
import { browserApi } from '../api/browser-api.ts'
import { askingEvery } from '../api/failures.ts'
import { ExecutionLog } from '../live/execution-log.ts'
import { follow } from '../live/follow.ts'
import { LogFeed } from '../live/log-feed.ts'
import { ResourceUse } from '../live/resource-use.ts'

/** The log of a devbox, to be followed while it is on screen. Not in the query cache: nothing else reads it. */
export const devboxLog = (id: string): LogFeed =>
  new LogFeed((options) => follow({ endpoint: 'logs.tail', params: { id } }, options))

/** The executions that the log of a devbox names, whoever started them. */
export const devboxExecutions = (id: string): ExecutionLog =>
  new ExecutionLog((options) => follow({ endpoint: 'logs.tail', params: { id } }, options))

/** What a devbox uses, as its log tells. */
export const devboxUse = (id: string): ResourceUse =>
  new ResourceUse((options) => follow({ endpoint: 'logs.tail', params: { id }, query: { source: 'stats' } }, options))

const pageApi = browserApi({ logs })

export const logQueries = {
  /** The commands that run in a devbox, as its log tells: the contract has no list of executions. */
  running: (devboxId: string) =>
    queryOptions({
      queryKey: ['logs', 'running', devboxId] as const,
      queryFn: async ({ signal }) =>
        runningCommands((await pageApi.logs.list({ params: { id: devboxId }, signal })).logs),
      staleTime: 15_000,
      refetchInterval: askingEvery(30_000),
    }),
}
