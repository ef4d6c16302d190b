import { hasRole } from '#lib/protocol/roles.ts'
import { maxListedSessions, type SessionList } from '#lib/protocol/sessions.ts'
import { revokedSessions } from '../accounts/revoked-sessions.ts'
import { requireCaller, revoke } from '../accounts/session-cookie.ts'
import type { Session } from '../accounts/types.ts'
import { actorOf, withActivityRecord } from '../activity/activity.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { decodeSegment } from '../http/request-guards.ts'
import { storedAccount } from '../upstream/client.ts'
import { roleOf } from './roles.ts'
import { type StoredSession, sessionStore } from './session-store.ts'

// `GET /api/sessions`: the caller's, and for operators everyone's in the account. `DELETE /api/sessions/{id}` ends one,
// `DELETE /api/sessions` all of the caller's other ones.
export const handleSessions = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const [, , , given, ...more] = new URL(request.url).pathname.split('/')
    // A HEAD request arrives here, too.
    const isEnding = request.method === 'DELETE'
    const session = await requireCaller(request, isEnding ? 'write' : 'read')
    if (more.length > 0 || (given !== undefined && !isEnding)) throw new HttpError('not_found', 'Not found')
    const all = visibleTo(session)
    const others = all.filter((each) => isOwn(each, session) && each.id !== session.sid)
    if (!isEnding)
      return json({
        sessions: all.slice(0, maxListedSessions).map(({ account: _, owner, expires_ms: __, ...each }) => ({
          ...each,
          is_own: isOwn({ owner }, session),
          is_current: each.id === session.sid,
        })),
        total_count: all.length,
        n_others: others.length,
      } satisfies SessionList)

    const actor = actorOf(session, (name) => request.headers.get(name))
    if (given === undefined) {
      const subject = others.length === 1 ? '1 session' : `${others.length} sessions`
      return withActivityRecord(actor, { operation: 'sessions.endOthers', subject }, async () => {
        for (const { id } of others) revoke(id)
        return json({})
      })
    }
    const id = decodeSegment(given)
    const found = all.find((each) => each.id === id)
    const subject = found?.person ? `${id}/${found.person}` : id
    return withActivityRecord(actor, { operation: 'sessions.end', subject }, async () => {
      if (!found) throw new HttpError('not_found', 'This session has ended already')
      revoke(id)
      return json({})
    })
  })

const visibleTo = (session: Session): StoredSession[] => {
  const isOperator = hasRole(roleOf(session) ?? 'viewer', 'operator')
  return sessionStore()
    .list(storedAccount(session.account.id), Date.now())
    .filter((each) => (isOperator || isOwn(each, session)) && !revokedSessions().find(each.id))
}

const isOwn = ({ owner }: Pick<StoredSession, 'owner'>, { person }: Session): boolean => owner === (person ?? null)
