import * as z from 'zod/mini'
import { ById, EpochMs, Id, openEnum } from './common.ts'
import { defineEndpoints, events, get, json } from './endpoint.ts'
import { shellNamePattern } from './executions.ts'

export const logSources = ['setup_commands', 'entrypoint', 'exec', 'files', 'stats', 'kmsg'] as const
export type LogSource = (typeof logSources)[number]
export const logLevels = ['debug', 'info', 'warn', 'error'] as const

/** A command logs a record with `cmd`, one per output line, and one with `exit_code`, all with its `cmd_id`. */
export const LogRecord = z.object({
  timestamp_ms: EpochMs,
  level: openEnum(logLevels),
  source: openEnum(logSources),
  cmd: z.nullish(z.string()),
  cmd_id: z.nullish(z.string()),
  exit_code: z.nullish(z.int()),
  message: z.nullish(z.string()),
  shell_name: z.nullish(z.string()),
})
export type LogRecord = z.infer<typeof LogRecord>

export const LogQuery = z.object({
  execution_id: z.optional(Id),
  shell_name: z.optional(z.string().check(z.regex(shellNamePattern, 'is not a valid shell name'))),
})
export type LogQuery = z.output<typeof LogQuery>

export const logs = defineEndpoints('logs', 'stable', {
  list: get('/v1/devboxes/:id/logs', json(z.object({ logs: z.array(LogRecord) })), { params: ById, query: LogQuery }),
  tail: get('/v1/devboxes/:id/logs/tail', events(LogRecord), { params: ById, query: LogQuery }),
})
