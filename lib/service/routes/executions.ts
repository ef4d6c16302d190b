import { type ExecuteCommand, executions, maxWaitSeconds } from '#lib/contract/executions.ts'
import type { Stream } from '#lib/service/engine/run-script.ts'
import { type Caller, implement } from '#lib/service/http/implement.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'

const noTimeoutMs = 2 ** 31 - 1
/** Unspecified: the start of 2025, as a structured date (RFC 9745). */
const deprecatedSince = '@1735689600'

export const executionRoutes = ({ devboxes, executions: runtime }: Deps) => {
  const launch = async (
    { account, requestId }: Pick<Caller, 'account' | 'requestId'>,
    devboxId: string,
    { command, shell_name, attach_stdin, command_id }: ExecuteCommand & { command_id?: string | null | undefined },
  ) => {
    devboxes.get(account, devboxId)
    await devboxes.adopted(devboxId)
    return runtime.launch(devboxId, () => devboxes.running(account, devboxId, 'execute'), {
      account,
      command,
      shellName: shell_name,
      id: command_id,
      requestId,
      attachStdin: attach_stdin,
    })
  }

  type Following = Caller & { params: { devbox_id: string; execution_id: string }; query: { offset: number } }
  const stream =
    (name: Stream) =>
    ({ params: { devbox_id, execution_id }, query, account, signal }: Following) => {
      devboxes.get(account, devbox_id)
      return runtime.follow(devbox_id, execution_id, name, query.offset, signal)
    }

  return implement(executions, {
    executeSync: async ({ params, body, signal, setHeader, ...caller }) => {
      if (body.attach_stdin)
        throw new ServiceError('invalid_argument', 'attach_stdin requires execute_async', {
          field: 'attach_stdin',
          shouldRetry: false,
        })
      setHeader('deprecation', deprecatedSince)
      const id = await launch(caller, params.id, body)
      // Unspecified: the command keeps running when the client disconnects.
      await runtime.reaches(params.id, id, ['completed'], noTimeoutMs, signal)
      signal.throwIfAborted()
      const { execution_id: _, status, ...result } = await runtime.get(params.id, id)
      const { stdout, stderr, exit_status } = result
      return { ...result, stdout: stdout ?? '', stderr: stderr ?? '', exit_status: exit_status ?? 0 }
    },
    executeAsync: async ({ params, body, ...caller }) => runtime.get(params.id, await launch(caller, params.id, body)),
    execute: async ({ params, query, body, signal, ...caller }) => {
      const id = await launch(caller, params.id, body)
      await runtime.reaches(params.id, id, ['completed'], (body.optimistic_timeout ?? maxWaitSeconds) * 1000, signal)
      signal.throwIfAborted()
      return runtime.get(params.id, id, query.last_n)
    },
    get: ({ params, query, account }) => {
      devboxes.get(account, params.devbox_id)
      return runtime.get(params.devbox_id, params.execution_id, query.last_n)
    },
    waitForStatus: async ({ params, query, body, account, signal }) => {
      const { devbox_id, execution_id } = params
      devboxes.get(account, devbox_id)
      const waitMs = Math.min(body.timeout_seconds ?? maxWaitSeconds, maxWaitSeconds) * 1000
      if (await runtime.reaches(devbox_id, execution_id, body.statuses, waitMs, signal))
        return runtime.get(devbox_id, execution_id, query.last_n)
      const status = runtime.status(devbox_id, execution_id)
      throw new ServiceError('timeout', `Execution ${execution_id} is ${status}, not ${body.statuses.join(' or ')}`, {
        shouldRetry: true,
      })
    },
    kill: async ({ params, body, account }) => {
      const { devbox_id, execution_id } = params
      devboxes.get(account, devbox_id)
      await runtime.kill(devbox_id, execution_id, body.kill_process_group ?? false)
      return runtime.get(devbox_id, execution_id)
    },
    sendStdIn: async ({ params, body, account }) => {
      devboxes.get(account, params.devbox_id)
      return {
        ...params,
        success: await runtime.send(params.devbox_id, params.execution_id, body.text, body.signal),
      }
    },
    streamStdout: stream('stdout'),
    streamStderr: stream('stderr'),
  })
}
