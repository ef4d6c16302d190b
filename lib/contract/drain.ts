import * as z from 'zod/mini'
import { EpochMs, openEnum } from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'

/** Work that a stop of the service would interrupt. */
export const RunningWork = z.object({
  kind: openEnum(['command', 'shell', 'trial', 'scoring', 'snapshot', 'build']),
  /** Of the execution, job, scenario run, snapshot or blueprint; a shell's session name. */
  id: z.string(),
  /** Display name: a command line, or the name of a job, scenario, snapshot or blueprint. */
  name: z.nullish(z.string()),
  devbox_id: z.nullish(z.string()),
  devbox_name: z.nullish(z.string()),
  /** The shell's foreground program. Null: it was used recently. */
  program: z.nullish(z.string()),
})
export type RunningWork = z.infer<typeof RunningWork>

export const maxListed = 50

const Count = z.int().check(z.minimum(0))

/** Counts are those of the account. */
export const PlannedStop = z.object({
  since_ms: EpochMs,
  /** Work that is still running at this time is interrupted. */
  deadline_ms: EpochMs,
  commands: Count,
  trials: Count,
  snapshots: Count,
  builds: Count,
  shells: z.optional(Count),
  scorings: z.optional(Count),
  /** The work counted above, at most `maxListed` items. */
  running: z.optional(z.array(RunningWork)),
  /** They end with the service and start again with it. */
  devboxes_restarting: Count,
  /** At most `maxListed` of them. */
  restarting: z.optional(z.array(z.object({ id: z.string(), name: z.nullish(z.string()) }))),
  /** They keep running. */
  devboxes_staying: Count,
})
export type PlannedStop = z.infer<typeof PlannedStop>

/** Null: no stop is planned. */
export const StopState = z.object({ stop: z.nullable(PlannedStop) })
export type StopState = z.infer<typeof StopState>

const maxSeconds = 7 * 24 * 3600

export const drain = defineEndpoints('drain', 'stable', {
  start: post('/local/drain', json(z.object({ eviction_deadline_ms: EpochMs, devboxes: z.int() })), {
    body: z.object({
      deadline_seconds: z.int().check(z.minimum(0), z.maximum(maxSeconds)),
    }),
    scope: 'local',
    operator: true,
  }),
  /** Accepts no new work, and stops the service once all work has finished, or after this time. */
  stop: post('/local/stop', json(z.object({ deadline_ms: EpochMs, running: z.array(RunningWork) })), {
    body: z.object({ wait_seconds: z.int().check(z.minimum(0), z.maximum(maxSeconds)) }),
    scope: 'local',
    operator: true,
  }),
  /** The planned stop, if there is one, with the work of all accounts. */
  pending: get('/local/stop', json(z.object({ running: z.nullable(z.array(RunningWork)) })), {
    scope: 'local',
    operator: true,
  }),
  /** Accepts work again. 409 once the service is stopping. */
  cancel: post('/local/stop/cancel', json(z.object({ canceled: z.boolean() })), { scope: 'local', operator: true }),
  state: get('/v1/accounts/me/planned_stop', json(StopState)),
})
