import * as z from 'zod/mini'
import { ApiError } from '#lib/client/api-error.ts'
import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { maxEpochMs } from '#lib/contract/common.ts'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { evictions } from '#lib/contract/evictions.ts'
import { alertKinds, alertStates } from '#lib/protocol/alert-labels.ts'
import { type AlertSummary, alertOutcomes } from '#lib/protocol/alert-outcomes.ts'
import { type AlertPeriod, alertPeriods, periodStartMs } from '#lib/protocol/alert-period.ts'
import type { AlertRecap } from '#lib/protocol/alert-recap.ts'
import {
  type Acknowledged,
  type Alert,
  type AlertHealth,
  type AlertHistory,
  type AlertPeople,
  type AlertStreamHealth,
  type ChangedAlerts,
  maxStoredAlerts,
  type PollHealth,
} from '#lib/protocol/alerts.ts'
import { cleanName, unverified } from '#lib/protocol/session.ts'
import type { ShiftReport } from '#lib/protocol/shift-report.ts'
import { shiftReportMarkdown } from '#lib/protocol/shift-report-markdown.ts'
import { personLabel } from '../accounts/person.ts'
import { readBodyOf, requireCaller } from '../accounts/session-cookie.ts'
import { actorOf, recordDone, withActivityRecord } from '../activity/activity.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { rowExport } from '../http/row-export.ts'
import { pushActions } from '../push/push-routes.ts'
import { clientFor } from '../upstream/client.ts'
import { serviceNow, toServiceTime } from '../upstream/clock.ts'
import { alertBookFor, storedAlerts } from './alert-books.ts'
import { alertRecap, alertSummary, shiftReport } from './alert-reports.ts'
import { type AlertAction, type AlertRequest, read } from './alert-request.ts'
import { receiverActions } from './delivery/receiver-routes.ts'
import { callTimeoutMs } from './describe-devbox.ts'

/** Handles `/api/alerts` and everything below. */
export const handleAlerts = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { pathname, searchParams } = new URL(request.url)
    const [what = 'history', id, verb] = pathname.split('/').slice(3)
    const route = [what, ...(id === undefined ? [] : [':id']), ...(verb === undefined ? [] : [verb])].join('/')
    const action = actions[`${request.method} ${route}`]
    if (!action) throw new HttpError('not_found', `${request.method} ${pathname} does not exist`)
    const session = await requireCaller(request, request.method === 'GET' ? 'read' : 'write')
    const hasBody = request.method === 'POST' && !bodyless.has(route)
    const header = (name: string) => request.headers.get(name)
    return action({
      session,
      person: personLabel(session, header),
      header,
      book: alertBookFor(session),
      query: Object.fromEntries(searchParams),
      body: hasBody ? await readBodyOf(request, maxBodyBytes) : undefined,
      id: decodeURIComponent(id ?? ''),
    })
  })

const bodyless = new Set(['test', 'receivers/:id/test', 'receivers/:id/retry', 'push/:id/test', 'push/:id/renew'])

const actions: Record<string, AlertAction> = {
  'GET history': ({ book, query }) => {
    const { format, ...given } = read(HistoryQuery, query)
    const fields = inPeriod(given)
    if (format === undefined) return json(book.history(fields) satisfies AlertHistory)
    return rowExport({
      name: 'alerts',
      format,
      columns: exportColumns,
      read: (starting_after) => {
        const { alerts, has_more } = book.history({ ...fields, limit: exportPage, starting_after })
        return { rows: alerts, has_more }
      },
    })
  },
  'GET summary': async ({ session, query }) =>
    json((await alertSummary(storedAlerts(session), inPeriod(read(SummaryQuery, query)))) satisfies AlertSummary),
  'GET recap': async ({ session, query }) => {
    const { from_ms = periodStartMs('12h', serviceNow()) } = read(RecapQuery, query)
    return json((await alertRecap(storedAlerts(session), from_ms)) satisfies AlertRecap)
  },
  'GET report': async ({ session, book, query }) => {
    const { format, ...given } = read(ReportQuery, query)
    const now_ms = serviceNow()
    const { from_ms = periodStartMs('12h', now_ms), to_ms = now_ms } = inPeriod(given)
    if (from_ms >= to_ms)
      throw new HttpError('invalid_argument', 'The period must start before it ends', { field: 'from_ms' })
    const report = await shiftReport(storedAlerts(session), book.receivers.list(), { from_ms, to_ms, now_ms })
    if (format === 'json') return json(report satisfies ShiftReport)
    return new Response(shiftReportMarkdown(report), {
      headers: {
        'content-type': 'text/markdown; charset=utf-8',
        'content-disposition': 'attachment; filename="shift-report.md"',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
    })
  },
  'GET health': ({ book }) =>
    json({
      stream: streamHealth(book.health()),
      looks: pollHealth(book.pollHealth()),
      unwritten: book.storeProblem,
    } satisfies AlertHealth),
  ...receiverActions,
  ...pushActions,
  'GET alert/:id': ({ book, id }) => {
    const alert = book.alert(id)
    if (!alert) throw new HttpError('not_found', `Alert ${id} not found`)
    return json(alert)
  },
  'GET people': ({ book, session }) =>
    json({ people: book.people().filter((name) => name !== session.account.name) } satisfies AlertPeople),
  'POST acknowledge': async (request) => {
    const { book, person } = request
    const { ids } = read(AlertIds, request.body)
    const acknowledged = await book.acknowledge(ids, person)
    recordAlerts(request, 'alerts.acknowledge', acknowledged)
    const changed = new Set(acknowledged.map(({ id }) => id))
    const taken = ids.flatMap((id) => (changed.has(id) ? [] : (book.alert(id) ?? []))).filter(isTakenFrom(person))
    return json({ acknowledged, taken } satisfies Acknowledged)
  },
  'POST unacknowledge': async (request) => {
    const { ids } = read(AlertIds, request.body)
    return changedAlerts(request, 'alerts.unacknowledge', await request.book.unacknowledge(ids, request.person))
  },
  'POST hand-over': async (request) => {
    const { book, person, body } = request
    const { ids, to } = read(HandOverRequest, body)
    const recipient = to === undefined ? person : recipientOf(to, book.people())
    return changedAlerts(request, 'alerts.hand_over', await book.handOver(ids, recipient, person))
  },
  'POST comment': async (request) => {
    const { ids, text } = read(CommentRequest, request.body)
    return changedAlerts(request, 'alerts.comment', await request.book.comment(ids, text, request.person))
  },
  'POST silences': ({ book, body, person, session, header }) => {
    const fields = read(SilenceRequest, body)
    const spanMs = fields.until_ms - serviceNow()
    if (spanMs <= 0 || spanMs > maxSilenceMs)
      throw new HttpError('invalid_argument', 'until_ms must be in the future, within a year', { field: 'until_ms' })
    const silence = book.silence({ ...fields, by: person })
    recordDone(actorOf(session, header), { operation: 'alerts.silence', subject: silence.id })
    return json(silence)
  },
  'DELETE silences/:id': ({ book, id, person, session, header }) => {
    if (!book.endSilence(id, person)) throw new HttpError('not_found', `Silence ${id} not found`)
    recordDone(actorOf(session, header), { operation: 'alerts.end_silence', subject: id })
    return json({})
  },
  'POST followed-jobs': async ({ book, body, session }) => {
    const { job_id } = read(FollowRequest, body)
    return respond(async () => {
      const { benchmarkJobs } = clientFor(session.api_key, callTimeoutMs)
      const { state } = await benchmarkJobs.get({ params: { id: job_id } })
      if (hasJobEnded(state)) throw new HttpError('conflict', `The job has already ended (${state})`)
      book.followJob(job_id)
      return {}
    })
  },
  'DELETE followed-jobs/:id': ({ book, id }) => {
    book.unfollowJob(id)
    return json({})
  },
  'POST test': ({ book }) => json(book.test()),
  'POST drills': async (request) => {
    const { session, book } = request
    const { devbox_id, in_seconds } = read(DrillRequest, request.body)
    const eviction = { devbox_id, eviction_deadline_ms: serviceNow() + in_seconds * 1000 }
    // The stream may report it before the response arrives.
    const forget = book.startDrill(eviction)
    return drill(request, evictions.schedule, devbox_id, () =>
      clientFor(session.api_key, callTimeoutMs)
        .evictions.schedule({ body: eviction })
        .catch((error) => {
          forget()
          throw error
        }),
    )
  },
  'DELETE drills/:id': (request) => {
    const { id, session, person, book } = request
    return drill(request, evictions.cancel, id, async () => {
      const answer = await clientFor(session.api_key, callTimeoutMs).evictions.cancel({ params: { devbox_id: id } })
      book.cancelEviction(id, person)
      return answer
    })
  },
}

const changedAlerts = (request: AlertRequest, operation: string, alerts: Alert[]): Response => {
  recordAlerts(request, operation, alerts)
  return json({ alerts } satisfies ChangedAlerts)
}

const recordAlerts = ({ session, header }: AlertRequest, operation: string, alerts: readonly Alert[]): void => {
  const [first, ...others] = alerts
  if (!first) return
  const subject = others.length > 0 ? `${alerts.length} alerts` : first.id
  recordDone(actorOf(session, header), { operation, subject })
}

const isTakenFrom =
  (person: string) =>
  ({ state, acknowledged_by }: Alert): boolean =>
    (state === 'acknowledged' || state === 'seen') && acknowledged_by !== null && acknowledged_by !== person

/** A known person by label or name. Anyone else is unverified. */
const recipientOf = (to: string, people: readonly string[]): string => {
  if (people.includes(to)) return to
  const name = cleanName(to)
  if (name === '') throw new HttpError('invalid_argument', 'to must be a name', { field: 'to' })
  return people.includes(name) ? name : unverified(name)
}

/** A drill suspends a devbox, so it is recorded like a page's own calls. */
const drill = async (
  { session, header }: AlertRequest,
  endpoint: Endpoint,
  devbox_id: string,
  call: () => Promise<unknown>,
): Promise<Response> =>
  withActivityRecord(actorOf(session, header), { operation: endpoint.id, subject: devbox_id }, () => respond(call))

/** Other services reject drills; their message is passed on. */
const respond = async (call: () => Promise<unknown>): Promise<Response> => {
  try {
    return json(await call())
  } catch (error) {
    if (error instanceof HttpError) throw error
    if (!(error instanceof ApiError) || error.status === 0)
      throw new HttpError('unavailable', 'Cannot reach the service; nothing was changed')
    throw new HttpError(error.status === 404 ? 'not_found' : 'conflict', error.message)
  }
}

/** Rows per event loop turn. */
const exportPage = 500

const timeOf = (ms: number | null) => (ms === null ? '' : new Date(ms).toISOString())

const exportColumns: Record<string, (alert: Alert) => string> = {
  id: ({ id }) => id,
  kind: ({ kind }) => kind,
  devbox_id: ({ devbox_id }) => devbox_id,
  devbox_name: ({ devbox_name }) => devbox_name ?? '',
  node: ({ node }) => node ?? '',
  job_id: ({ job }) => job?.id ?? '',
  job_name: ({ job }) => job?.name ?? '',
  metadata: ({ metadata }) => JSON.stringify(metadata),
  deadline: ({ deadline_ms }) => timeOf(deadline_ms),
  state: ({ state }) => state,
  first_heard: ({ first_heard_ms }) => timeOf(first_heard_ms),
  found_late: ({ found_late }) => String(found_late),
  stopped: ({ stopped }) => stopped?.how ?? '',
  stopped_by: ({ stopped }) => stopped?.by ?? '',
  running_commands: ({ work }) => (work ? String(work.commands) : ''),
  acknowledged_by: ({ acknowledged_by }) => acknowledged_by ?? '',
  acknowledged: ({ acknowledged_ms }) => timeOf(acknowledged_ms),
  closed: ({ closed_ms }) => timeOf(closed_ms),
  outage: ({ watch }) => watch?.detail ?? '',
}

const text = (max: number) => z.string().check(z.maxLength(max, `must have at most ${max} characters`))
const EpochMs = z.coerce.number().check(z.int(), z.minimum(0), z.maximum(maxEpochMs))
const Period = { period: z.optional(z.enum(alertPeriods)), from_ms: z.optional(EpochMs), to_ms: z.optional(EpochMs) }
const SummaryQuery = z.object({ ...Period, search: z.optional(text(256)) })
const HistoryQuery = z.extend(SummaryQuery, {
  state: z.optional(z.enum(alertStates)),
  kind: z.optional(z.enum(alertKinds)),
  outcome: z.optional(z.enum(alertOutcomes)),
  devbox_id: z.optional(text(256)),
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(500)), 50),
  starting_after: z.optional(text(256)),
  format: z.optional(z.enum(['csv', 'json'])),
})
const RecapQuery = z.object({ from_ms: z.optional(EpochMs) })
const ReportQuery = z.object({ ...Period, format: z._default(z.enum(['json', 'markdown']), 'json') })

/** `period` counts back from now, by the service's clock. */
const inPeriod = <Query extends { period?: AlertPeriod | undefined; from_ms?: number | undefined }>({
  period,
  ...query
}: Query) => ({ ...query, from_ms: period === undefined ? query.from_ms : periodStartMs(period, serviceNow()) })

/** Fits the ids of all alerts of an account. */
const maxBodyBytes = maxStoredAlerts * 300
const AlertIds = z.object({ ids: z.array(text(256)).check(z.minLength(1), z.maxLength(maxStoredAlerts)) })
/** Without `to`, the caller takes the alerts over. */
const HandOverRequest = z.extend(AlertIds, { to: z.optional(text(256)) })
const CommentRequest = z.extend(AlertIds, {
  text: text(1000).check(z.trim(), z.minLength(1, 'must not be empty')),
})
/** Every page gets all silences. */
const maxSilenceKeys = 20
/** Unspecified. */
const maxSilenceMs = 366 * 24 * 3_600_000
const SilenceRequest = z.object({
  metadata: z.record(text(256).check(z.minLength(1)), text(1024)).check(
    z.refine((pairs) => Object.keys(pairs).length > 0, 'must name at least one key'),
    z.refine((pairs) => Object.keys(pairs).length <= maxSilenceKeys, `must name at most ${maxSilenceKeys} keys`),
  ),
  until_ms: z.int(),
  comment: z._default(text(500), ''),
})
const FollowRequest = z.object({ job_id: text(256) })
const DrillRequest = z.object({
  devbox_id: text(256),
  in_seconds: z.int().check(z.minimum(1), z.maximum(86_400, 'must be at most a day')),
})

const streamHealth = (health: AlertStreamHealth): AlertStreamHealth => ({
  ...health,
  since_ms: toServiceTime(health.since_ms),
  last_event_ms: health.last_event_ms && toServiceTime(health.last_event_ms),
  last_heard_ms: health.last_heard_ms && toServiceTime(health.last_heard_ms),
  gaps: health.gaps.map(({ from_ms, to_ms }) => ({ from_ms: toServiceTime(from_ms), to_ms: toServiceTime(to_ms) })),
})

const pollHealth = (health: PollHealth): PollHealth => ({
  ...health,
  looked_ms: health.looked_ms && toServiceTime(health.looked_ms),
})
