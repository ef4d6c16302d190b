import { Id } from '#lib/contract/common.ts'
import { truncate } from '#lib/protocol/report-words.ts'
import { digestOf } from '../accounts/digest.ts'
import { openHolder } from '../accounts/sealing.ts'
import { HttpError } from '../http/handle-request.ts'
import { countWrongKey } from '../limits/wrong-keys.ts'
import { downloadRunLogs } from '../logs/run-logs.ts'
import { logError } from '../observability/log.ts'
import { registry, slot } from '../registry/registry.ts'
import { messagePage } from '../reports/html/document.ts'
import { contentPolicy } from '../reports/html/style.ts'
import { jobSourceOf } from '../reports/job-source.ts'
import { serviceNow } from '../upstream/clock.ts'
import type { StoredShare } from './share-store.ts'
import { sharedReports } from './shared-reports.ts'
import { shareStore } from './shares.ts'

/**
 * Headers of pages below `/s/`; undefined for others. The address grants access, so it must not reach other sites or search
 * engines.
 */
export const shareHeaders = (path: string): Record<string, string> | undefined =>
  path.startsWith('/s/')
    ? {
        'content-security-policy': `${contentPolicy}; frame-ancestors 'none'`,
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex, nofollow, noarchive',
      }
    : undefined

/** `GET /s/{token}`: the shared report as it is now, without an account. */
export const openShare = (request: Request, token: string): Promise<Response> =>
  withShare(request, token, async (share) => {
    if (request.method === 'HEAD') return page(200, '')
    const document = await documentOf(share, token)
    shareStore().countOpening(share.id, Date.now())
    return page(200, document)
  })

/** `GET /s/{token}/logs/{run}`: the log archive of a run in the report, if the link includes logs. */
export const openSharedLogs = (request: Request, token: string, run: string): Promise<Response> =>
  withShare(request, token, async (share) => {
    const document = share.logs && Id.safeParse(run).success ? await documentOf(share, token) : ''
    // The report lists exactly the runs that may be downloaded.
    if (!document.includes(`href="${logsPath(token, run)}"`)) return missingPage()
    const { api_key } = await holderOf(share)
    const { body, headers } = await downloadRunLogs(api_key, run, request.signal)
    const length = headers.get('content-length')
    return new Response(body, {
      headers: {
        'content-type': 'application/zip',
        'content-disposition': `attachment; filename="${run}.zip"`,
        'cache-control': 'no-store',
        ...(length !== null && { 'content-length': length }),
      },
    })
  })

const logsPath = (token: string, run: string) => `/s/${token}/logs/${run}`

/** Reports being computed, by share: many visitors at once cost no more than one. */
const computing = slot('sharedReports', () => new Map<string, Promise<string>>())

const documentOf = (share: StoredShare, token: string): Promise<string> => {
  const known = computing().get(share.id)
  if (known) return known
  const { kind, params, by, expires_ms, logs } = share
  const document = holderOf(share)
    .then((holder) =>
      sharedReports[kind].html(jobSourceOf(holder), params, {
        now_ms: serviceNow(),
        shared: { by, expires_ms, logsPath: logs ? (run) => logsPath(token, run) : undefined },
      }),
    )
    .finally(() => computing().delete(share.id))
  computing().set(share.id, document)
  return document
}

const holderOf = async ({ sealed }: StoredShare) => {
  const holder = await openHolder(sealed)
  if (!holder) throw new HttpError('unauthenticated', 'The console has a new secret or another service')
  return holder
}

const withShare = async (
  request: Request,
  token: string,
  respond: (share: StoredShare) => Promise<Response>,
): Promise<Response> => {
  try {
    const share = registry().config.areSharesEnabled ? shareStore().find(digestOf(token), Date.now()) : undefined
    if (share) return await respond(share)
    await countWrongKey(request.headers.get('x-devdeck-client') ?? 'unknown', 'Too many invalid links')
    return missingPage()
  } catch (error) {
    if (!(error instanceof HttpError)) logError('A shared report failed', error)
    return problemPage(error instanceof HttpError ? error : new HttpError('internal', 'Unexpected error'))
  }
}

/** The same for unknown, expired and revoked links. */
const missingPage = () =>
  page(404, messagePage('Link not found', 'This link has expired, was revoked, or is mistyped. Ask for a new one.'))

const problemPage = ({ code, message, retryAfterSeconds }: HttpError): Response => {
  if (code === 'rate_limited')
    return page(429, messagePage('Too many requests', `${message}.`), { 'retry-after': `${retryAfterSeconds ?? 60}` })
  if (code === 'unauthenticated' || code === 'forbidden')
    return page(410, messagePage('Report unavailable', 'The access of the person who shared this report has ended.'))
  if (code === 'not_found') return page(410, messagePage('Report unavailable', 'What was shared has been deleted.'))
  if (code === 'invalid_argument')
    return page(410, messagePage('Report unavailable', `It can no longer be computed: ${truncate(message, 300)}`))
  return page(503, messagePage('Report unavailable', 'The service does not respond. Try again later.'), {
    'retry-after': '30',
  })
}

const page = (status: number, document: string, headers: Record<string, string> = {}): Response =>
  new Response(document, {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', ...headers },
  })
