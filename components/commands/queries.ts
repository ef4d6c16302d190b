import { mutationOptions, type QueryClient } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { follow } from '#lib/browser/live/follow.ts'
import { pushed } from '#lib/browser/queries/list/pages.ts'
import { isFinal } from '#lib/client/api-error.ts'
import { executions, type StdinSignal } from '#lib/contract/executions.ts'
import { CommandRun, type ExecutionSource } from './command-run.ts'

const pageApi = browserApi({ executions })
type Api = typeof pageApi

const none: readonly CommandRun[] = []
const commandsKey = (devboxId: string) => ['executions', 'of-this-visit', devboxId] as const

export const executionQueries = {
  /** The commands started from this page since it was loaded, the newest first. Never fetched. */
  ofThisVisit: (devboxId: string) => pushed<readonly CommandRun[]>(commandsKey(devboxId), none),
}

interface Start {
  devboxId: string
  command: string
  shellName?: string | null | undefined
  attachStdin?: boolean
}

interface Input {
  devbox_id: string
  execution_id: string
  text?: string
  signal?: StdinSignal
}

interface Kill {
  run: CommandRun
  killProcessGroup: boolean
}

export const executionMutations = {
  /** Starts a command and follows its output; the run is put first in `executionQueries.ofThisVisit`. */
  executeAsync: () =>
    mutationOptions({
      mutationKey: ['executions', 'execute-async'],
      mutationFn: async ({ devboxId, command, shellName, attachStdin }: Start) => {
        const execution = await pageApi.executions.executeAsync({
          params: { id: devboxId },
          body: { command, ...(shellName && { shell_name: shellName }), ...(attachStdin && { attach_stdin: true }) },
        })
        return new CommandRun({
          command,
          execution,
          source: executionSource(pageApi, devboxId, execution.execution_id),
        })
      },
      onSuccess: (run, { devboxId }, _result, { client }) => {
        remember(client, devboxId, run)
        void run.follow()
      },
    }),

  /** Answers once the command has ended. Nothing is streamed, and the answer has no id: the log has the execution. */
  executeSync: () =>
    mutationOptions({
      mutationKey: ['executions', 'execute-sync'],
      mutationFn: ({ devboxId, command, shellName }: Start) =>
        pageApi.executions.executeSync({
          params: { id: devboxId },
          body: { command, ...(shellName && { shell_name: shellName }) },
        }),
    }),

  /** The run's own stream tells when the process has gone; nothing is invalidated. */
  kill: () =>
    mutationOptions({
      mutationKey: ['executions', 'kill'],
      mutationFn: ({ run, killProcessGroup }: Kill) => {
        const { devbox_id, execution_id } = run.getSnapshot().execution
        return pageApi.executions.kill({
          params: { devbox_id, execution_id },
          body: { kill_process_group: killProcessGroup },
        })
      },
    }),

  /** Rejects when the service says that the text or signal did not arrive. */
  sendStdIn: () =>
    mutationOptions({
      mutationKey: ['executions', 'send-std-in'],
      mutationFn: async ({ devbox_id, execution_id, ...body }: Input) => {
        const { success } = await pageApi.executions.sendStdIn({ params: { devbox_id, execution_id }, body })
        if (!success) throw new Error('The service says that this did not reach the command. It may have ended.')
      },
    }),
}

/** A command that somebody started, to be followed while it is looked at. */
export const foundRun = (devboxId: string, executionId: string): CommandRun =>
  new CommandRun({
    // No answer tells it; the log may.
    command: '',
    execution: { devbox_id: devboxId, execution_id: executionId, status: 'unknown' },
    source: executionSource(pageApi, devboxId, executionId),
    isFound: true,
  })

/** More runs than anyone scrolls through; each holds up to one transcript. */
const maxRemembered = 30

const remember = (client: QueryClient, devboxId: string, run: CommandRun) =>
  client.setQueryData<readonly CommandRun[]>(commandsKey(devboxId), (runs = []) => {
    // A run that has not ended is never dropped: its Kill button is the only one there is.
    const kept = runs.filter((each, index) => index < maxRemembered - 1 || !each.getSnapshot().hasEnded)
    return [run, ...kept]
  })

const executionSource = (api: Api, devboxId: string, executionId: string): ExecutionSource => {
  const params = { devbox_id: devboxId, execution_id: executionId }
  return {
    follow: (stream, options) => follow({ endpoint: outputOf[stream], params }, options),
    // The text came by the streams; the last line is the least that can be asked for.
    get: () => api.executions.get({ params, query: { last_n: 1 } }),
    isLost: isFinal,
  }
}

const outputOf = { stdout: 'executions.streamStdout', stderr: 'executions.streamStderr' } as const
