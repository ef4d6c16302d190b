import * as z from 'zod/mini'
import { ById, Id, openEnum, queryInt } from './common.ts'
import { defineEndpoints, events, get, json, maxScriptBodyBytes, post } from './endpoint.ts'

export const executionStatuses = ['queued', 'running', 'completed'] as const
export type ExecutionStatus = (typeof executionStatuses)[number]

/** stdout, stderr and exit_status are null until completed. */
export const Execution = z.object({
  devbox_id: z.string(),
  execution_id: z.string(),
  status: openEnum(executionStatuses),
  shell_name: z.nullish(z.string()),
  stdout: z.nullish(z.string()),
  stderr: z.nullish(z.string()),
  exit_status: z.nullish(z.int()),
  stdout_truncated: z.nullish(z.boolean()),
  stderr_truncated: z.nullish(z.boolean()),
})
export type Execution = z.infer<typeof Execution>

export const SyncExecution = z.object({
  devbox_id: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  exit_status: z.int(),
  shell_name: z.nullish(z.string()),
  /** Unspecified: the flags of the other executions. */
  stdout_truncated: z.nullish(z.boolean()),
  stderr_truncated: z.nullish(z.boolean()),
})
export type SyncExecution = z.infer<typeof SyncExecution>

/** `offset` is the number of bytes up to the end of this chunk; pass it back to continue from there. */
export const OutputChunk = z.object({ output: z.string(), offset: z.optional(z.int()) })
export type OutputChunk = z.infer<typeof OutputChunk>

/** Unspecified: the allowed characters. */
export const shellNamePattern = /^[\w.:@/-]{1,128}$/
export const ExecuteCommand = z.object({
  command: z.string().check(z.minLength(1, 'must not be empty')),
  shell_name: z.nullish(z.string().check(z.regex(shellNamePattern, 'must be 1 to 128 letters, digits or _.:@/-'))),
  attach_stdin: z.nullish(z.boolean()),
})
export type ExecuteCommand = z.infer<typeof ExecuteCommand>

/** EOF closes stdin; INTERRUPT sends SIGINT to the process group. */
export const stdinSignals = ['EOF', 'INTERRUPT'] as const
export type StdinSignal = (typeof stdinSignals)[number]

export const maxWaitSeconds = 25
const maxOffset = Number.MAX_SAFE_INTEGER
const ByExecution = z.object({ devbox_id: Id, execution_id: Id })
const OutputQuery = z.object({ offset: z._default(queryInt(0, maxOffset), 0) })
const maxLines = 1_000_000
const GetQuery = z.object({ last_n: z.optional(queryInt(0, maxLines)) })
// The public client documents this default for `execute` only.
const ExecuteQuery = z.object({ last_n: z._default(queryInt(0, maxLines), 100) })

export const executions = defineEndpoints('executions', 'stable', {
  executeSync: post('/v1/devboxes/:id/execute_sync', json(SyncExecution), {
    params: ById,
    body: ExecuteCommand,
    maxBodyBytes: maxScriptBodyBytes,
    stability: 'deprecated',
  }),
  executeAsync: post('/v1/devboxes/:id/execute_async', json(Execution), {
    params: ById,
    body: ExecuteCommand,
    maxBodyBytes: maxScriptBodyBytes,
  }),
  execute: post('/v1/devboxes/:id/execute', json(Execution), {
    params: ById,
    query: ExecuteQuery,
    body: z.extend(ExecuteCommand, {
      command_id: z.nullish(Id),
      optimistic_timeout: z.nullish(z.number().check(z.minimum(0), z.maximum(maxWaitSeconds))),
    }),
    maxBodyBytes: maxScriptBodyBytes,
  }),
  get: get('/v1/devboxes/:devbox_id/executions/:execution_id', json(Execution), {
    params: ByExecution,
    query: GetQuery,
  }),
  waitForStatus: post('/v1/devboxes/:devbox_id/executions/:execution_id/wait_for_status', json(Execution), {
    params: ByExecution,
    query: GetQuery,
    body: z.object({
      statuses: z.array(z.enum(executionStatuses)).check(z.minLength(1)),
      timeout_seconds: z.nullish(z.number().check(z.minimum(0))),
    }),
  }),
  kill: post('/v1/devboxes/:devbox_id/executions/:execution_id/kill', json(Execution), {
    params: ByExecution,
    body: z.object({ kill_process_group: z.nullish(z.boolean()) }),
  }),
  sendStdIn: post(
    '/v1/devboxes/:devbox_id/executions/:execution_id/send_std_in',
    json(z.object({ devbox_id: z.string(), execution_id: z.string(), success: z.boolean() })),
    {
      params: ByExecution,
      body: z
        .object({ text: z.nullish(z.string()), signal: z.nullish(z.enum(stdinSignals)) })
        .check(z.refine(({ text, signal }) => text != null || signal != null, 'must have text or signal')),
      maxBodyBytes: maxScriptBodyBytes,
    },
  ),
  streamStdout: get('/v1/devboxes/:devbox_id/executions/:execution_id/stream_stdout_updates', events(OutputChunk), {
    params: ByExecution,
    query: OutputQuery,
  }),
  streamStderr: get('/v1/devboxes/:devbox_id/executions/:execution_id/stream_stderr_updates', events(OutputChunk), {
    params: ByExecution,
    query: OutputQuery,
  }),
})
