import * as z from 'zod/mini'
import { axons, isReadOnlySql } from '#lib/contract/axons.ts'
import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import { devboxes } from '#lib/contract/devboxes.ts'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { errorStatus } from '#lib/contract/errors.ts'
import { files } from '#lib/contract/files.ts'
import { scenarioRuns } from '#lib/contract/scenario-runs.ts'
import type { Activity } from '#lib/protocol/activity.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import type { Session } from '../accounts/types.ts'
import { browserName } from '../http/browser-name.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import type { ReadHeader } from '../http/origin.ts'
import { rowExport } from '../http/row-export.ts'
import { registry } from '../registry/registry.ts'
import { serviceIdentity } from '../upstream/client.ts'
import { ActivityStore } from './activity-store.ts'

/** Calls that change nothing although their method is POST. */
const reads = new Set<string>([
  devboxes.waitForStatus.id,
  files.read.id,
  files.download.id,
  scenarioRuns.downloadLogs.id,
  benchmarkRuns.downloadLogs.id,
])

/** Commands are in the log of their devbox, whoever ran them. */
const isKept = ({ endpoint: { id, method }, body }: Call) =>
  method !== 'GET' && !reads.has(id) && !id.startsWith('executions.') && !onlyReadsSql(id, body)

/** Pages read the tables of an axon by SQL. */
const onlyReadsSql = (id: string, body: unknown): boolean => {
  if ((id !== axons.query.id && id !== axons.batch.id) || !(body instanceof Uint8Array)) return false
  try {
    const { statements, ...one } = JSON.parse(new TextDecoder().decode(body)) as { statements?: unknown; sql?: unknown }
    const texts = id === axons.query.id ? [one.sql] : (statements as { sql: unknown }[]).map(({ sql }) => sql)
    return texts.every((sql) => typeof sql === 'string' && isReadOnlySql(sql))
  } catch {
    // The service refuses what is no statement.
    return false
  }
}

/** Ids are shorter. A path may also hold a text that is no id, as long as an address can be. */
const maxSubjectLength = 256

interface Call {
  endpoint: Endpoint
  params: Record<string, string>
  session: Session
  header: ReadHeader
  body?: unknown
}

/** Records what a page asked the service to change, with the answer. */
export const recordActivity = (call: Call, answer: Response): void => {
  if (!isKept(call)) return
  const { endpoint, params, session, header } = call
  const at_ms = Date.now()
  const keep = (subject: string | null) =>
    writeDown(actorOf(session, header), { at_ms, operation: endpoint.id, subject, status: answer.status })
  const [subject] = Object.values(params)
  // Of something that was just made only the answer has the id.
  if (subject === undefined && answer.ok) void idIn(answer.clone()).then(keep)
  else keep(subject ?? null)
}

/** Who does something by a page. */
export interface Actor extends Pick<Activity, 'browser' | 'address'> {
  session: Session
}

export const actorOf = (session: Session, header: ReadHeader): Actor => ({
  session,
  browser: browserName(header('user-agent') ?? ''),
  address: header('x-devdeck-client') ?? 'unknown',
})

/** What the console does itself, under a name of its own, written down with its answer or its refusal. */
export const withActivityRecord = async (
  actor: Actor,
  what: Pick<Activity, 'operation' | 'subject'>,
  act: () => Promise<Response>,
): Promise<Response> => {
  const at_ms = Date.now()
  try {
    const answer = await act()
    writeDown(actor, { ...what, at_ms, status: answer.status })
    return answer
  } catch (error) {
    if (error instanceof HttpError) writeDown(actor, { ...what, at_ms, status: errorStatus[error.code] })
    throw error
  }
}

const writeDown = (
  { session, browser, address }: Actor,
  { subject, ...what }: Pick<Activity, 'at_ms' | 'operation' | 'subject' | 'status'>,
) => {
  try {
    activityStore().put(accountOf(session), {
      ...what,
      subject: subject?.slice(0, maxSubjectLength) ?? null,
      person: session.person ?? null,
      browser,
      address,
    })
  } catch (error) {
    // The call itself has succeeded, and a full disk must not make it fail.
    console.error(`${what.operation} could not be written down:`, error)
  }
}

// An axon without a name has null there.
const Made = z.object({ id: z.nullish(z.string()), job_id: z.nullish(z.string()), name: z.nullish(z.string()) })

const idIn = async (answer: Response): Promise<string | null> => {
  const made = Made.safeParse(await answer.json().catch(() => undefined)).data
  return made?.id ?? made?.job_id ?? made?.name ?? null
}

/** `GET /api/activity`: what was done from this console, newest first; all of it as a file where a format is named. */
export const handleActivity = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const session = await requireCaller(request, 'read')
    const asked = Asked.safeParse(Object.fromEntries(new URL(request.url).searchParams))
    if (!asked.success) throw new HttpError('invalid_argument', z.prettifyError(asked.error))
    const { format, ...query } = asked.data
    const read = (more: Partial<typeof query>) => activityStore().list(accountOf(session), { ...query, ...more })
    if (format === undefined) return json(read({}))
    return rowExport<Activity>({
      name: 'activity',
      format,
      read: (starting_after) => {
        const { activities, has_more } = read({ limit: 500, starting_after })
        return { rows: activities, has_more }
      },
      columns: {
        id: ({ id }) => id,
        time: ({ at_ms }) => new Date(at_ms).toISOString(),
        operation: ({ operation }) => operation,
        subject: ({ subject }) => subject ?? '',
        status: ({ status }) => String(status),
        person: ({ person }) => person ?? '',
        browser: ({ browser }) => browser,
        address: ({ address }) => address,
      },
    })
  })

const Asked = z.object({
  search: z.optional(z.string().check(z.maxLength(256))),
  outcome: z.optional(z.enum(['done', 'refused'])),
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(500)), 50),
  starting_after: z.optional(z.string().check(z.regex(/^\d{1,15}$/))),
  format: z.optional(z.enum(['csv', 'json'])),
})

const accountOf = ({ account }: Session) => `${serviceIdentity()} ${account.id}`

const activityStore = (): ActivityStore => {
  const shared = registry()
  shared.activityStore ??= new ActivityStore(shared.config.dataDir)
  return shared.activityStore
}

export const closeActivity = (): void => {
  registry().activityStore?.close()
  registry().activityStore = undefined
}
