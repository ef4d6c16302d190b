import * as z from 'zod/mini'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { Id } from '#lib/contract/common.ts'
import {
  type Exclusion,
  type ExclusionList,
  exclusionReasons,
  identifiedAttempts,
  type Label,
  type LabelList,
  markLimits,
} from '#lib/protocol/marks.ts'
import { personLabel } from '../accounts/person.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import { type Actor, actorOf, recordDone, withActivityRecord } from '../activity/activity.ts'
import { read } from '../alerts/alert-request.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { readJsonBody } from '../http/json-body.ts'
import { decodeSegment } from '../http/request-guards.ts'
import { clientFor, storedAccount, toHttpError } from '../upstream/client.ts'
import { serviceNow } from '../upstream/clock.ts'
import { judgmentStore } from './marks.ts'

interface JudgmentRequest {
  actor: Actor
  account: string
  /** Author of the change. */
  by: string
  jobId: string
  body: unknown
  id: string
}

/** Handles `/api/judgment/exclusions` and `/api/judgment/labels`. */
export const handleJudgment = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { pathname, searchParams } = new URL(request.url)
    const [kind = '', id, ...more] = pathname.split('/').slice(3)
    const action = actions[`${request.method} ${[kind, ...(id === undefined ? [] : [':id']), ...more].join('/')}`]
    if (!action) throw new HttpError('not_found', `${request.method} ${pathname} does not exist`)
    const session = await requireCaller(request, request.method === 'GET' ? 'read' : 'write')
    const header = (name: string) => request.headers.get(name)
    return action({
      actor: actorOf(session, header),
      account: storedAccount(session.account.id),
      by: personLabel(session, header),
      jobId: request.method === 'GET' ? read(JobQuery, Object.fromEntries(searchParams)).job_id : '',
      body: request.method === 'POST' ? await readJsonBody(request) : undefined,
      id: decodeSegment(id ?? ''),
    })
  })

const actions: Record<string, (request: JudgmentRequest) => Response | Promise<Response>> = {
  'GET exclusions': ({ account, jobId }) =>
    json({
      exclusions: judgmentStore().exclusions(account, jobId),
      history: judgmentStore().removedExclusions(account, jobId),
    } satisfies ExclusionList),

  'POST exclusions': ({ actor, account, by, body }) => {
    const { job_id, items, reason, note } = read(NewExclusions, body)
    if (reason === 'other' && note === '')
      throw new HttpError('invalid_argument', 'note is required for the reason other', { field: 'note' })
    return withActivityRecord(actor, { operation: 'judgment.exclude', subject: job_id }, async () => {
      const known = await readAttempts(actor, job_id)
      const exclusions = items.map(({ scenario_id, attempt_id }, at) => ({
        job_id,
        ...known.find(`items.${at}`, scenario_id, attempt_id),
        attempt_id,
        reason,
        note,
        by,
        at_ms: serviceNow(),
      }))
      requireSpace(account, 'exclusions', items.length)
      judgmentStore().exclude(account, exclusions)
      const keys = new Set(exclusions.map(exclusionKey))
      const active = judgmentStore().exclusions(account, job_id)
      return json({ exclusions: active.filter((each) => keys.has(exclusionKey(each))) })
    })
  },

  'DELETE exclusions/:id': ({ actor, account, by, id }) => {
    const removed = judgmentStore().restore(account, id, by, serviceNow())
    if (!removed) throw new HttpError('not_found', 'This exclusion was already removed')
    recordDone(actor, { operation: 'judgment.restore', subject: `${removed.job_id}/${id}` })
    return json(removed)
  },

  'GET labels': ({ account, jobId }) => json({ labels: judgmentStore().labels(account, jobId) } satisfies LabelList),

  'POST labels': ({ actor, account, by, body }) => {
    const { job_id, items, label, note } = read(NewLabels, body)
    return withActivityRecord(actor, { operation: 'judgment.label', subject: job_id }, async () => {
      const known = await readAttempts(actor, job_id)
      const labels = items.map(({ scenario_id, attempt_id }, at) => ({
        job_id,
        ...known.find(`items.${at}`, scenario_id, attempt_id),
        attempt_id,
        label,
        note,
        by,
        at_ms: serviceNow(),
      }))
      requireSpace(account, 'labels', items.length)
      judgmentStore().label(account, labels)
      const labeled = new Set(items.map(({ attempt_id }) => attempt_id))
      const isOwn = (each: Label) => each.label === label && labeled.has(each.attempt_id)
      return json({ labels: judgmentStore().labels(account, job_id).filter(isOwn) } satisfies LabelList)
    })
  },

  'DELETE labels/:id': ({ actor, account, id }) => {
    const removed = judgmentStore().unlabel(account, id)
    if (!removed) throw new HttpError('not_found', 'This label was already removed')
    recordDone(actor, { operation: 'judgment.unlabel', subject: `${removed.job_id}/${id}` })
    return json(removed)
  },
}

const exclusionKey = ({ scenario_id, attempt_id }: Pick<Exclusion, 'scenario_id' | 'attempt_id'>): string =>
  JSON.stringify([scenario_id, attempt_id])

const requireSpace = (account: string, kind: 'exclusions' | 'labels', more: number): void => {
  if (judgmentStore().count(account, kind) + more > markLimits.perAccount)
    throw new HttpError('conflict', `An account can have ${markLimits.perAccount} ${kind}; remove some first`)
}

/** A job with 10,000 outcomes is a few megabytes. */
const readTimeoutMs = 30_000

const readAttempts = async ({ session }: Actor, id: string) => {
  const { benchmarkJobs } = clientFor(session.api_key, readTimeoutMs)
  const job: BenchmarkJob = await benchmarkJobs.get({ params: { id } }).catch((error: unknown) => {
    const failure = toHttpError(error)
    throw failure.code === 'not_found'
      ? new HttpError('not_found', `No benchmark job with ID ${id}`, { field: 'job_id' })
      : failure
  })
  const attempts = identifiedAttempts(job).flat()
  const names = new Map((job.job_spec?.scenario_ids ?? []).map((each) => [each, each]))
  for (const { scenario_id, scenario_name } of attempts) names.set(scenario_id, scenario_name)
  const scenarioOf = new Map(attempts.map(({ attempt_id, scenario_id }) => [attempt_id, scenario_id]))
  return {
    find: (path: string, scenario_id: string, attempt_id: string | null) => {
      const scenario_name = names.get(scenario_id)
      if (scenario_name === undefined)
        throw new HttpError('invalid_argument', `${job.name} has no scenario ${scenario_id}`, {
          field: `${path}.scenario_id`,
        })
      if (attempt_id !== null && scenarioOf.get(attempt_id) !== scenario_id)
        throw new HttpError('invalid_argument', `${scenario_name} has no attempt ${attempt_id}`, {
          field: `${path}.attempt_id`,
        })
      return { scenario_id, scenario_name }
    },
  }
}

const JobQuery = z.strictObject({ job_id: Id })

const text = (maxLength: number) =>
  z.string().check(z.trim(), z.maxLength(maxLength, `must have at most ${maxLength} characters`))
const ScenarioId = z.string().check(z.minLength(1), z.maxLength(1024))
const AttemptId = z.string().check(z.minLength(1), z.maxLength(4096))
const items = <Item extends z.ZodMiniType>(item: Item) =>
  z.array(item).check(z.minLength(1, 'must not be empty'), z.maxLength(markLimits.perRequest))

const NewExclusions = z.strictObject({
  job_id: Id,
  items: items(z.strictObject({ scenario_id: ScenarioId, attempt_id: z._default(z.nullable(AttemptId), null) })),
  reason: z.enum(exclusionReasons),
  note: z._default(text(markLimits.noteLength), ''),
})

const NewLabels = z.strictObject({
  job_id: Id,
  items: items(z.strictObject({ scenario_id: ScenarioId, attempt_id: AttemptId })),
  label: text(markLimits.labelLength).check(z.regex(/^[^\p{Cc}]+$/u, 'must be one line of text')),
  note: z._default(text(markLimits.noteLength), ''),
})
