import * as z from 'zod/mini'
import { Id } from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'

const Bytes = z.int().check(z.minimum(0))

/** What an account stores, by kind. An extension of the local service. */
export const Storage = z.object({
  stored_bytes: z.record(z.string(), Bytes),
  /** Null: no limit. */
  limit_bytes: z.nullable(Bytes),
  /** After this time, output and records of ended devboxes, jobs and runs are deleted. Null: never. */
  keep_ended_seconds: z.nullable(z.int()),
})
export type Storage = z.infer<typeof Storage>

export const Pruned = z.object({
  devboxes: z.int(),
  executions: z.int(),
  benchmark_jobs: z.int(),
  benchmark_runs: z.int(),
  scenario_runs: z.int(),
  bytes: Bytes,
})
export type Pruned = z.infer<typeof Pruned>

const maxDeleted = 200
const maxOlderThanSeconds = 100 * 365 * 24 * 3600

export const storage = defineEndpoints('storage', 'beta', {
  get: get('/v1/accounts/me/storage', json(Storage)),
  /** Deletes what ended longer ago, in all accounts. */
  prune: post('/local/prune', json(Pruned), {
    body: z.object({
      older_than_seconds: z.optional(z.int().check(z.minimum(0), z.maximum(maxOlderThanSeconds))),
      dry_run: z.optional(z.boolean()),
    }),
    scope: 'local',
    operator: true,
  }),
  /** Deletes jobs and devboxes of the account now instead of when they expire. Skips those that have not ended. */
  deleteEnded: post('/local/delete_ended', json(Pruned), {
    body: z.object({
      benchmark_jobs: z.array(Id).check(z.maxLength(maxDeleted)),
      devboxes: z.array(Id).check(z.maxLength(maxDeleted)),
    }),
    scope: 'local',
  }),
})
