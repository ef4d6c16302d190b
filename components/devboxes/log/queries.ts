import { queryOptions } from '@tanstack/react-query'
import { ExecutionLog } from '#components/commands/execution-log.ts'
import { runningCommands } from '#components/commands/running-commands.ts'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { askingEvery } from '#lib/browser/api/failures.ts'
import { follow } from '#lib/browser/live/follow.ts'
import { logs } from '#lib/contract/logs.ts'
import { LogFeed } from './log-feed.ts'
import { ResourceUse } from './resource-usage.ts'

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
