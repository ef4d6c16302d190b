import { mutationOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import { follow } from '#lib/browser/live/follow.ts'
import { pushed } from '#lib/browser/queries/list/pages.ts'
import { isFinal } from '#lib/client/api-error.ts'
import { executions, type StdinSignal } from '#lib/contract/executions.ts'
import { logs } from '#lib/contract/logs.ts'
import { CommandRun, type ExecutionSource } from './command-run.ts'
import { ExecutionLog, runningCommands } from './execution-log.ts'

const api = browserApi({ executions, logs })

const startedHereKey = (devboxId: string) => ['executions', 'started-here', devboxId] as const

export const executionQueries = {
  /** Commands started from this page since it loaded, newest first. Never fetched. */
  startedHere: (devboxId: string) => pushed<readonly CommandRun[]>(startedHereKey(devboxId), []),

  running: (devboxId: string) =>
    queryOptions({
      queryKey: ['executions', 'running', devboxId] as const,
      queryFn: async ({ signal }) => runningCommands((await api.logs.list({ params: { id: devboxId }, signal })).logs),
      staleTime: 15_000,
      refetchInterval: pollEvery(30_000),
    }),
}

export const devboxExecutions = (id: string): ExecutionLog =>
  new ExecutionLog((options) => follow({ endpoint: 'logs.tail', params: { id } }, options))

interface StartInput {
  devboxId: string
  command: string
  shellName?: string | null | undefined
  attachStdin?: boolean
}

interface StdinInput {
  devbox_id: string
  execution_id: string
  text?: string
  signal?: StdinSignal
}

interface KillInput {
  run: CommandRun
  killProcessGroup: boolean
}

export const executionMutations = {
  /** Starts a command, adds it to `executionQueries.startedHere` and follows its output. */
  executeAsync: () =>
    mutationOptions({
      mutationKey: ['executions', 'execute-async'],
      mutationFn: async ({ devboxId, command, shellName, attachStdin }: StartInput) => {
        const execution = await api.executions.executeAsync({
          params: { id: devboxId },
          body: { command, ...(shellName && { shell_name: shellName }), ...(attachStdin && { attach_stdin: true }) },
        })
        return new CommandRun({ command, execution, source: executionSource(devboxId, execution.execution_id) })
      },
      onSuccess: (run, { devboxId }, _result, { client }) => {
        addRun(client, devboxId, run)
        void run.follow()
      },
    }),

  /** Resolves once the command has ended. The response has no id, so only the log names the execution. */
  executeSync: () =>
    mutationOptions({
      mutationKey: ['executions', 'execute-sync'],
      mutationFn: ({ devboxId, command, shellName }: StartInput) =>
        api.executions.executeSync({
          params: { id: devboxId },
          body: { command, ...(shellName && { shell_name: shellName }) },
        }),
    }),

  /** Invalidates nothing: the run's own stream reports the end. */
  kill: () =>
    mutationOptions({
      mutationKey: ['executions', 'kill'],
      mutationFn: ({ run, killProcessGroup }: KillInput) => {
        const { devbox_id, execution_id } = run.getSnapshot().execution
        return api.executions.kill({
          params: { devbox_id, execution_id },
          body: { kill_process_group: killProcessGroup },
        })
      },
    }),

  sendStdIn: () =>
    mutationOptions({
      mutationKey: ['executions', 'send-std-in'],
      mutationFn: async ({ devbox_id, execution_id, ...body }: StdinInput) => {
        const { success } = await api.executions.sendStdIn({ params: { devbox_id, execution_id }, body })
        if (!success) throw new Error('The input did not reach the command. It may have ended.')
      },
    }),
}

/** A command started elsewhere. No response includes its text; the log may. */
export const externalRun = (devboxId: string, executionId: string): CommandRun =>
  new CommandRun({
    command: '',
    execution: { devbox_id: devboxId, execution_id: executionId, status: 'unknown' },
    source: executionSource(devboxId, executionId),
    isExternal: true,
  })

/** Each run may hold a full transcript. */
const maxRuns = 30

const addRun = (client: QueryClient, devboxId: string, run: CommandRun) =>
  client.setQueryData<readonly CommandRun[]>(startedHereKey(devboxId), (runs = []) => {
    // A running command stays whatever the limit: its Kill button is nowhere else.
    const remaining = runs.filter((each, index) => index < maxRuns - 1 || !each.getSnapshot().hasEnded)
    return [run, ...remaining]
  })

const executionSource = (devboxId: string, executionId: string): ExecutionSource => {
  const params = { devbox_id: devboxId, execution_id: executionId }
  return {
    follow: (stream, options) => follow({ endpoint: streamEndpoints[stream], params }, options),
    // The streams carry the output; one line is the minimum the API accepts.
    get: () => api.executions.get({ params, query: { last_n: 1 } }),
    isFinal,
  }
}

const streamEndpoints = { stdout: 'executions.streamStdout', stderr: 'executions.streamStderr' } as const
