import { type DevboxCreate, devboxes, hasEnded } from '#lib/contract/devboxes.ts'
import type { Deps } from '#lib/service/deps.ts'
import { ServiceError } from '#lib/service/errors.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'
import { invalid } from '#lib/service/http/router.ts'

/** Longest time `wait_for_status` is held; the public clients ask again. */
const maxHoldMs = 30_000
// Below the 30 s after which the public clients give up on an answer.
const createHoldMs = 20_000

export const devboxRoutes = ({ store, devboxes: runtime, ptyTokens }: Deps) =>
  implement(devboxes, {
    list: ({ query, account }) => {
      if (query.starting_after === undefined) return store.devboxes.list(account, query)
      const before = store.devboxes.position(account, query.starting_after)
      if (before === undefined) throw invalid({ field: 'starting_after', message: 'is not the id of a devbox' })
      return store.devboxes.list(account, query, before)
    },
    create: ({ body, account }) => runtime.create(account, body),
    createAndAwaitRunning: async ({
      body,
      account,
      signal,
    }: {
      body: DevboxCreate
      account: string
      signal: AbortSignal
    }) => {
      const { id } = await runtime.create(account, body)
      const settled = await runtime.reaches(account, id, ['running', 'failure', 'shutdown'], createHoldMs, signal)
      return settled ?? runtime.get(account, id)
    },
    metadataKeys: ({ account }) => ({ keys: store.devboxes.metadataKeys(account) }),
    metadataValues: notImplemented,
    usage: notImplemented,
    get: ({ params, account }) => runtime.get(account, params.id),
    update: ({ params, body, account }) => runtime.update(account, params.id, body),
    waitForStatus: async ({ params, body, account, signal }) => {
      const holdMs = Math.min((body.timeout_seconds ?? maxHoldMs) * 1000, maxHoldMs)
      const devbox = await runtime.reaches(account, params.id, body.statuses, holdMs, signal)
      if (devbox) return devbox
      const { status } = runtime.get(account, params.id)
      throw new ServiceError('timeout', `Devbox ${params.id} is ${status}, not ${body.statuses.join(' or ')}`, {
        shouldRetry: !hasEnded(status),
      })
    },
    suspend: ({ params, account }) => runtime.suspend(account, params.id),
    resume: ({ params, account }) => runtime.resume(account, params.id),
    shutdown: ({ params, account }) => runtime.shutdown(account, params.id),
    keepAlive: ({ params, account }) => {
      runtime.keepAlive(account, params.id)
      return {}
    },
    createPtyTunnel: ({ params, account }) => {
      runtime.running(account, params.id, 'open_terminal')
      return ptyTokens.create(account, params.id)
    },
  })
