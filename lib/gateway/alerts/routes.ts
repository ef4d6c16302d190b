import * as z from 'zod/mini'
import { ApiError } from '#lib/client/api-error.ts'
import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { maxEpochMs } from '#lib/contract/common.ts'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { evictions } from '#lib/contract/evictions.ts'
import { type AlertHealth, type AlertHistory, maxStoredAlerts } from '#lib/protocol/alerts.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import { type Session, sessionLabel } from '../accounts/types.ts'
import { actorOf, withActivityRecord } from '../activity/activity.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { readJsonBody } from '../http/json-body.ts'
import type { ReadHeader } from '../http/origin.ts'
import { clientFor } from '../upstream/client.ts'
import { serviceNow } from '../upstream/clock.ts'
import type { AlertBook } from './alert-book.ts'
import { alertBookFor, callTimeoutMs } from './alert-books.ts'
import { alertExport } from './alert-export.ts'
import { evictionWatchesOf } from './eviction-watch.ts'

/** `/api/alerts` and all below it. */
export const handleAlerts = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { pathname, searchParams } = new URL(request.url)
    const [what = 'history', id] = pathname.split('/').slice(3)
    const answer = actions[`${request.method} ${what}${id === undefined ? '' : '/:id'}`]
    if (!answer) throw new HttpError('not_found', `There is no ${request.method} ${pathname}`)
    const session = await requireCaller(request, request.method === 'GET' ? 'read' : 'write')
    const hasBody = request.method === 'POST' && what !== 'test'
    return answer({
      session,
      header: (name) => request.headers.get(name),
      book: alertBookFor(session),
      query: Object.fromEntries(searchParams),
      body: hasBody ? await readJsonBody(request, maxBodyBytes) : undefined,
      id: decodeURIComponent(id ?? ''),
    })
  })

interface Asked {
  session: Session
  header: ReadHeader
  book: AlertBook
  query: unknown
  body: unknown
  id: string
}

const actions: Record<string, (asked: Asked) => Response | Promise<Response>> = {
  'GET history': ({ book, query }) => {
    const { format, ...wanted } = read(HistoryAsked, query)
    if (format === undefined) return json(book.history(wanted) satisfies AlertHistory)
    return alertExport(format, (starting_after) => book.history({ ...wanted, limit: exportPage, starting_after }))
  },
  'GET health': ({ book }) => {
    const { webhook } = book
    return json({
      stream: book.health(),
      looks: book.looksHealth(),
      unwritten: book.unwritten,
      webhook: {
        host: webhook?.host ?? null,
        watches_alone: book.staysListening,
        deliveries: webhook?.deliveries ?? [],
      },
    } satisfies AlertHealth)
  },
  'POST acknowledge': async ({ book, body, session }) =>
    json({ acknowledged: await book.acknowledge(read(Acknowledge, body).ids, sessionLabel(session)) }),
  'POST silences': ({ book, body, session }) => {
    const wanted = read(SilenceAsked, body)
    if (wanted.until_ms <= serviceNow())
      throw new HttpError('invalid_argument', 'until_ms must be ahead', { field: 'until_ms' })
    return json(book.silence({ ...wanted, by: sessionLabel(session) }))
  },
  'DELETE silences/:id': ({ book, id }) => {
    if (!book.endSilence(id)) throw new HttpError('not_found', `There is no silence ${id}`)
    return json({})
  },
  'POST followed-jobs': async ({ book, body, session }) => {
    const { job_id } = read(FollowAsked, body)
    return toPageResponse(async () => {
      const { benchmarkJobs } = clientFor(session.api_key, callTimeoutMs)
      const { state } = await benchmarkJobs.get({ params: { id: job_id } })
      if (hasJobEnded(state)) throw new HttpError('conflict', `The job has ended: ${state}`)
      book.followJob(job_id)
      return {}
    })
  },
  'DELETE followed-jobs/:id': ({ book, id }) => {
    book.unfollowJob(id)
    return json({})
  },
  'POST test': ({ book }) => json(book.test()),
  'POST drills': async (asked) => {
    const { session, book } = asked
    const { devbox_id, in_seconds } = read(Drill, asked.body)
    const eviction = { devbox_id, eviction_deadline_ms: serviceNow() + in_seconds * 1000 }
    // The stream may tell of it before the answer is here.
    const forget = book.startDrill(eviction)
    return drill(asked, evictions.schedule, devbox_id, () =>
      clientFor(session.api_key, callTimeoutMs)
        .evictions.schedule({ body: eviction })
        .catch((error) => {
          forget()
          throw error
        }),
    )
  },
  'DELETE drills/:id': (asked) => {
    const { id, session, book } = asked
    return drill(asked, evictions.cancel, id, async () => {
      const answer = await clientFor(session.api_key, callTimeoutMs).evictions.cancel({ params: { devbox_id: id } })
      // First the alert: what the watch removes would be closed as no longer reported.
      book.cancelEviction(id)
      for (const hub of evictionWatchesOf(session.account.id)) hub.withdraw(id)
      return answer
    })
  },
}

/** A drill takes a devbox away: it is written down like what pages ask of the service themselves. */
const drill = async (
  { session, header }: Asked,
  endpoint: Endpoint,
  devbox_id: string,
  call: () => Promise<unknown>,
): Promise<Response> =>
  withActivityRecord(actorOf(session, header), { operation: endpoint.id, subject: devbox_id }, () =>
    toPageResponse(call),
  )

/** A drill is the local service's: what another one says of it is told as it is. */
const toPageResponse = async (call: () => Promise<unknown>): Promise<Response> => {
  try {
    return json(await call())
  } catch (error) {
    if (error instanceof HttpError) throw error
    if (!(error instanceof ApiError) || error.status === 0)
      throw new HttpError('unavailable', 'The service cannot be reached; nothing was changed')
    throw new HttpError(error.status === 404 ? 'not_found' : 'conflict', error.message)
  }
}

/** Read at once, between two turns of the event loop. */
const exportPage = 500

const text = (max: number) => z.string().check(z.maxLength(max, `must have at most ${max} characters`))
const HistoryAsked = z.object({
  state: z.optional(
    z.enum(['new', 'acknowledged', 'moved', 'ended', 'passed', 'withdrawn', 'cancelled', 'stopped', 'seen']),
  ),
  devbox_id: z.optional(text(256)),
  search: z.optional(text(256)),
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(500)), 50),
  starting_after: z.optional(text(256)),
  format: z.optional(z.enum(['csv', 'json'])),
})
/** The ids of all alerts an account may have. */
const maxBodyBytes = maxStoredAlerts * 300
const Acknowledge = z.object({ ids: z.array(text(256)).check(z.minLength(1), z.maxLength(maxStoredAlerts)) })
const SilenceAsked = z.object({
  metadata: z
    .record(text(256).check(z.minLength(1)), text(1024))
    .check(z.refine((pairs) => Object.keys(pairs).length > 0, 'must name at least one key')),
  until_ms: z.int().check(z.maximum(maxEpochMs)),
  comment: z._default(text(500), ''),
})
const FollowAsked = z.object({ job_id: text(256) })
const Drill = z.object({
  devbox_id: text(256),
  in_seconds: z.int().check(z.minimum(1), z.maximum(86_400, 'must be at most a day')),
})

const read = <Schema extends z.ZodMiniType>(schema: Schema, value: unknown): z.output<Schema> => {
  const { data, error } = schema.safeParse(value)
  if (data !== undefined) return data
  const { path = [], message = 'is not understood' } = error?.issues[0] ?? {}
  const field = path.join('.')
  throw new HttpError('invalid_argument', `${field} ${message}`.trim(), { field })
}
