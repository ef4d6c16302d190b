import { keys } from '#lib/contract/keys.ts'
import { type Caller, implement } from '#lib/service/http/implement.ts'
import { invalid } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'

export const keyRoutes = ({ store, now }: Deps) => {
  type Body = { name?: string | null | undefined; expires_at_ms?: number | null | undefined }
  const create = ({ account, keyId, body }: Caller & { body: Body }) => {
    if (body.expires_at_ms != null && body.expires_at_ms <= now())
      throw invalid({ field: 'expires_at_ms', message: 'must be in the future' })
    return {
      account,
      parentId: keyId ?? null,
      name: body.name || null,
      expiresAtMs: body.expires_at_ms ?? null,
      nowMs: now(),
    }
  }
  const view = (name: string | null, { id, key, expires_at_ms }: ReturnType<typeof store.keys.add>) => ({
    id,
    key_secret: key,
    ...(name !== null && { name }),
    expires_at_ms,
  })
  return implement(keys, {
    create: (call) => {
      const key = create(call)
      return view(key.name, store.keys.add(key))
    },
    createRestricted: (call) => {
      const key = create(call)
      const scopes = call.body.scopes ?? []
      return { ...view(key.name, store.keys.add({ ...key, scopes })), scopes }
    },
  })
}
