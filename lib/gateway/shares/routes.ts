import { randomBytes } from 'node:crypto'
import * as z from 'zod/mini'
import {
  type CreatedShare,
  defaultShareDays,
  maxShareDays,
  type Share,
  type ShareList,
  shareKinds,
} from '#lib/protocol/shares.ts'
import { digestOf } from '../accounts/digest.ts'
import { personLabel } from '../accounts/person.ts'
import { sealHolder } from '../accounts/sealing.ts'
import { readBodyOf, requireCaller } from '../accounts/session-cookie.ts'
import { actorOf, withActivityRecord } from '../activity/activity.ts'
import { read } from '../alerts/alert-request.ts'
import { HttpError, handleRequest, json, storeOrUndo } from '../http/handle-request.ts'
import { originOfHost } from '../http/origin.ts'
import { decodeSegment } from '../http/request-guards.ts'
import { registry } from '../registry/registry.ts'
import { jobSourceOf } from '../reports/job-source.ts'
import { storedAccount } from '../upstream/client.ts'
import { sharedReports } from './shared-reports.ts'
import { shareStore } from './shares.ts'

/** Unspecified: links per account. */
const maxShares = 500
const dayMs = 24 * 3600 * 1000

const Created = z.object({
  kind: z.enum(shareKinds),
  params: z.record(z.string(), z.string().check(z.maxLength(4096))),
  expires_days: z._default(z.int().check(z.minimum(1), z.maximum(maxShareDays)), defaultShareDays),
  logs: z._default(z.boolean(), false),
})

/** `GET /api/shares`, `POST /api/shares`, `DELETE /api/shares/{id}`: public links to reports. */
export const handleShares = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const [, , , given, ...more] = new URL(request.url).pathname.split('/')
    const session = await requireCaller(request, request.method === 'GET' ? 'read' : 'write')
    const header = (name: string) => request.headers.get(name)
    const account = storedAccount(session.account.id)
    const actor = actorOf(session, header)
    const { areSharesEnabled: enabled } = registry().config
    shareStore().prune(Date.now())
    if (request.method === 'DELETE' && given !== undefined && more.length === 0) {
      const id = decodeSegment(given)
      return withActivityRecord(actor, { operation: 'shares.revoke', subject: id }, async () => {
        if (!shareStore().remove(account, id)) throw new HttpError('not_found', `Share link ${id} not found`)
        return json({})
      })
    }
    if (given !== undefined || request.method === 'DELETE') throw new HttpError('not_found', 'Not found')
    if (request.method === 'GET') return json({ shares: shareStore().list(account), enabled } satisfies ShareList)

    if (!enabled) throw new HttpError('forbidden', 'Share links are turned off on this console (DEVDECK_SHARES=off)')
    const { kind, params, expires_days, logs } = read(Created, await readBodyOf(request))
    const ids = sharedReports[kind].jobsOf(params)
    if (shareStore().list(account).length >= maxShares)
      throw new HttpError('conflict', `This account has ${maxShares} share links; revoke one first`)
    const source = jobSourceOf(session)
    const titles: string[] = []
    for (const id of ids) titles.push((await source.get(id, 'params')).name)
    const id = `shr_${randomBytes(9).toString('base64url')}`
    return withActivityRecord(actor, { operation: 'shares.create', subject: `${id}/${ids.join(',')}` }, async () => {
      const token = randomBytes(24).toString('base64url')
      const created_ms = Date.now()
      const share: Share = {
        id,
        kind,
        params,
        title: titles.join(' vs '),
        logs,
        by: personLabel(session, header),
        created_ms,
        expires_ms: created_ms + expires_days * dayMs,
        n_opened: 0,
        last_opened_ms: null,
      }
      shareStore().add(account, digestOf(token), { ...share, sealed: await sealHolder(session) })
      await storeOrUndo(() => shareStore().remove(account, id))
      const origin = registry().config.publicOrigins[0] ?? originOfHost(header('host')) ?? ''
      return json({ id, url: `${origin}/s/${token}`, expires_ms: share.expires_ms } satisfies CreatedShare)
    })
  })
