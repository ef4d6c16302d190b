import * as z from 'zod/mini'
import { axons, isReadOnlySql } from '#lib/contract/axons.ts'
import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import { devboxes } from '#lib/contract/devboxes.ts'
import { errorStatus } from '#lib/contract/errors.ts'
import { files } from '#lib/contract/files.ts'
import { scenarioRuns } from '#lib/contract/scenario-runs.ts'
import type { Activity } from '#lib/protocol/activity.ts'
import { personOf } from '../accounts/person.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import type { Session } from '../accounts/types.ts'
import { browserName } from '../http/browser-name.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import type { ReadHeader } from '../http/origin.ts'
import { rowExport } from '../http/row-export.ts'
import { logError } from '../observability/log.ts'
import type { ProxiedCall, ProxyHook } from '../proxy/proxy.ts'
import { registry, slot } from '../registry/registry.ts'
import { storedAccount } from '../upstream/client.ts'
import { serviceNow } from '../upstream/clock.ts'
import { ActivityStore } from './activity-store.ts'

const activityStore = slot(
  'activityStore',
  () => new ActivityStore(registry().config.dataDir),
  (store) => store.close(),
)

/** POST calls that change nothing. */
const reads = new Set<string>([
  devboxes.waitForStatus.id,
  files.read.id,
  files.download.id,
  scenarioRuns.downloadLogs.id,
  benchmarkRuns.downloadLogs.id,
])

/** Excludes commands: the devbox's own log lists them. */
const isRecorded = ({ endpoint: { id, method }, body }: ProxiedCall) =>
  method !== 'GET' && !reads.has(id) && !id.startsWith('executions.') && !isReadOnlyQuery(id, body)

const isReadOnlyQuery = (id: string, body: unknown): boolean => {
  if ((id !== axons.query.id && id !== axons.batch.id) || !(body instanceof Uint8Array)) return false
  try {
    const { statements, ...one } = JSON.parse(new TextDecoder().decode(body)) as { statements?: unknown; sql?: unknown }
    const texts = id === axons.query.id ? [one.sql] : (statements as { sql: unknown }[]).map(({ sql }) => sql)
    return texts.every((sql) => typeof sql === 'string' && isReadOnlySql(sql))
  } catch {
    // The service rejects malformed statements.
    return false
  }
}

const maxSubjectLength = 256

export const recordActivity: ProxyHook = (call, response) => {
  if (!isRecorded(call)) return
  const { endpoint, params, session, header } = call
  const at_ms = serviceNow()
  const record = (subject: string | null) =>
    store(actorOf(session, header), { at_ms, operation: endpoint.id, subject, status: response.status })
  const [subject] = Object.values(params)
  // Only the response has the id of a new record.
  if (subject === undefined && response.ok) void createdId(response.clone()).then(record)
  else record(subject ?? null)
}

export interface Actor extends Pick<Activity, 'person' | 'browser' | 'address'> {
  session: Session
}

export const actorOf = (session: Session, header: ReadHeader): Actor => ({
  session,
  person: personOf(session, header),
  browser: session.personal_key ? `Key ${session.personal_key.name}` : browserName(header('user-agent') ?? ''),
  address: header('x-devdeck-client') ?? 'unknown',
})

/** Runs an operation of the console itself and records it with its status, failed or not. */
export const withActivityRecord = async (
  actor: Actor,
  what: Pick<Activity, 'operation' | 'subject'>,
  run: () => Promise<Response>,
): Promise<Response> => {
  const at_ms = serviceNow()
  try {
    const response = await run()
    store(actor, { ...what, at_ms, status: response.status })
    return response
  } catch (error) {
    if (error instanceof HttpError) store(actor, { ...what, at_ms, status: errorStatus[error.code] })
    throw error
  }
}

/** Records a successful request that the console handled itself. */
export const recordDone = (actor: Actor, what: Pick<Activity, 'operation' | 'subject'>): void =>
  store(actor, { ...what, at_ms: serviceNow(), status: 200 })

/** Records an action of the console itself. */
export const recordByConsole = (account: string, what: Pick<Activity, 'at_ms' | 'operation' | 'subject'>): void =>
  put(account, { ...what, status: 200, person: 'Devdeck', browser: 'None', address: 'None' })

const store = ({ session, ...actor }: Actor, what: Pick<Activity, 'at_ms' | 'operation' | 'subject' | 'status'>) =>
  put(storedAccount(session.account.id), { ...what, ...actor })

const put = (account: string, { subject, ...activity }: Omit<Activity, 'id'>) => {
  try {
    activityStore().put(account, { ...activity, subject: subject?.slice(0, maxSubjectLength) ?? null })
  } catch (error) {
    // The call itself succeeded, and a full disk must not fail it.
    logError(`Could not record ${activity.operation}`, error)
  }
}

// An unnamed axon has a null name.
const CreatedRecord = z.object({
  id: z.nullish(z.string()),
  job_id: z.nullish(z.string()),
  name: z.nullish(z.string()),
})

const createdId = async (response: Response): Promise<string | null> => {
  const created = CreatedRecord.safeParse(await response.json().catch(() => undefined)).data
  return created?.id ?? created?.job_id ?? created?.name ?? null
}

const ActivityQuery = z.object({
  search: z.optional(z.string().check(z.maxLength(256))),
  outcome: z.optional(z.enum(['done', 'refused'])),
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(500)), 50),
  starting_after: z.optional(z.string().check(z.regex(/^\d{1,15}$/))),
  format: z.optional(z.enum(['csv', 'json'])),
})

/** `GET /api/activity`: changes made from this console, newest first; with `format`, all of them as a file. */
export const handleActivity = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const session = await requireCaller(request, 'read')
    const { data, error } = ActivityQuery.safeParse(Object.fromEntries(new URL(request.url).searchParams))
    if (!data) throw new HttpError('invalid_argument', z.prettifyError(error))
    const { format, ...query } = data
    const list = (page: Partial<typeof query>) =>
      activityStore().list(storedAccount(session.account.id), { ...query, ...page })
    if (format === undefined) return json(list({}))
    return rowExport<Activity>({
      name: 'activity',
      format,
      read: (starting_after) => {
        const { activities, has_more } = list({ limit: 500, starting_after })
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
