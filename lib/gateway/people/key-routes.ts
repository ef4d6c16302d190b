import { randomBytes } from 'node:crypto'
import * as z from 'zod/mini'
import {
  type CreatedPersonalKey,
  maxKeyDays,
  maxKeyNameLength,
  type PersonalKey,
  type PersonalKeyList,
} from '#lib/protocol/personal-keys.ts'
import { hasRole, roles } from '#lib/protocol/roles.ts'
import { cleanName } from '#lib/protocol/session.ts'
import { digestOf } from '../accounts/digest.ts'
import { endStreams } from '../accounts/open-streams.ts'
import { personOf } from '../accounts/person.ts'
import { sealHolder } from '../accounts/sealing.ts'
import { readBodyOf, requireCaller } from '../accounts/session-cookie.ts'
import type { Session } from '../accounts/types.ts'
import { actorOf, withActivityRecord } from '../activity/activity.ts'
import { read } from '../alerts/alert-request.ts'
import { HttpError, handleRequest, json, storeOrUndo } from '../http/handle-request.ts'
import { decodeSegment } from '../http/request-guards.ts'
import { storedAccount } from '../upstream/client.ts'
import { keyStore, type StoredKey } from './key-store.ts'
import { newPersonalKey } from './personal-keys.ts'
import { roleOf } from './roles.ts'

/** Unspecified: keys per person. */
const maxKeys = 50
const dayMs = 24 * 3600 * 1000

const NewKey = z.object({
  name: z.string().check(z.maxLength(1_000)),
  role: z.optional(z.enum(roles)),
  expires_days: z.nullish(z.int().check(z.minimum(1), z.maximum(maxKeyDays))),
})

/** `GET /api/personal-keys`, `POST /api/personal-keys`, `DELETE /api/personal-keys/{id}`. */
export const handlePersonalKeys = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const [, , , given, ...more] = new URL(request.url).pathname.split('/')
    const session = await requireCaller(request, request.method === 'GET' ? 'read' : 'write')
    const actor = actorOf(session, (name) => request.headers.get(name))
    keyStore().prune(Date.now())
    const visible = visibleTo(session)
    if (request.method === 'DELETE' && given !== undefined && more.length === 0) {
      const id = decodeSegment(given)
      const found = visible.find((each) => each.id === id)
      const subject = found ? `${id}/${found.name}` : id
      return withActivityRecord(actor, { operation: 'personalKeys.revoke', subject }, async () => {
        if (!found) throw new HttpError('not_found', 'This personal key was revoked already')
        keyStore().remove(id)
        endStreams('signed out', id)
        return json({})
      })
    }
    if (given !== undefined || request.method === 'DELETE') throw new HttpError('not_found', 'Not found')
    if (request.method === 'GET')
      return json({ keys: visible.map((key) => viewOf(key, session)) } satisfies PersonalKeyList)
    return create(request, session, actor)
  })

const create = async (request: Request, session: Session, actor: ReturnType<typeof actorOf>): Promise<Response> => {
  const own = roleOf(session) ?? 'viewer'
  const { name: typed, role = own, expires_days } = read(NewKey, await readBodyOf(request))
  const name = cleanName(typed)
  if (name === '')
    throw new HttpError('invalid_argument', `name must have 1 to ${maxKeyNameLength} characters`, { field: 'name' })
  if (!hasRole(own, role))
    throw new HttpError('invalid_argument', `role must not be higher than your own, which is ${own}`, { field: 'role' })
  // Before the count, so that calls at the same time count each other's keys.
  const sealed = await sealHolder(session)
  if (visibleTo(session).filter((each) => isOwn(each, session)).length >= maxKeys)
    throw new HttpError('conflict', `You have ${maxKeys} personal keys; revoke one first`)
  const id = `key_${randomBytes(9).toString('base64url')}`
  return withActivityRecord(actor, { operation: 'personalKeys.create', subject: `${id}/${name}` }, async () => {
    const key = newPersonalKey()
    const created_ms = Date.now()
    keyStore().add(
      digestOf(key),
      {
        id,
        account: storedAccount(session.account.id),
        owner: session.person ?? null,
        person: personOf(session, (header) => request.headers.get(header)),
        name,
        role,
        sealed,
        created_ms,
        expires_ms: expires_days == null ? null : created_ms + expires_days * dayMs,
      },
      session.groups,
    )
    await storeOrUndo(() => keyStore().remove(id))
    return json({ id, key } satisfies CreatedPersonalKey)
  })
}

const visibleTo = (session: Session): StoredKey[] => {
  const isOperator = hasRole(roleOf(session) ?? 'viewer', 'operator')
  return keyStore()
    .list(storedAccount(session.account.id))
    .filter((key) => isOperator || isOwn(key, session))
}

const isOwn = ({ owner }: Pick<StoredKey, 'owner'>, { person }: Session): boolean => owner === (person ?? null)

const viewOf = (key: StoredKey, session: Session): PersonalKey => {
  const { id, name, role, person, created_ms, expires_ms, last_used_ms, owner } = key
  const holder = {
    person: owner ?? undefined,
    account: session.account,
    personal_key: { id, name, by: person },
  }
  return {
    id,
    name,
    role,
    current_role: roleOf(holder),
    person,
    created_ms,
    expires_ms,
    last_used_ms,
    is_own: isOwn(key, session),
  }
}
