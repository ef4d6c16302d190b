import { type DevboxCreate, devboxes } from '#lib/contract/devboxes.ts'
import { resourcesOf } from '#lib/contract/launch-parameters.ts'
import { usageOf } from '#lib/service/domain/devboxes.ts'
import { type Caller, implement } from '#lib/service/http/implement.ts'
import { invalid, ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'
import { grantOf } from '#lib/service/terminals/tokens.ts'
import { listPage, metadataHandlers } from './pages.ts'

const maxWaitMs = 30_000
// Below the 30 s timeout of the public clients.
const createHoldMs = 20_000

export const devboxRoutes = ({ store, devboxes: runtime, ptyTokens, now }: Deps) =>
  implement(devboxes, {
    list: ({ query, account }) => listPage('devboxes', 'devbox', store.devboxes, account, query),
    create: ({ body, account, requestId }) => runtime.create(account, body, { requestId }),
    createAndAwaitRunning: async ({ body, account, requestId, signal }: Caller & { body: DevboxCreate }) => {
      const { id } = await runtime.create(account, body, { requestId })
      const settled = await runtime.reaches(account, id, ['running', 'failure', 'shutdown'], createHoldMs, signal)
      return settled ?? runtime.get(account, id)
    },
    ...metadataHandlers(store.devboxes),
    usage: ({ params, account }) => {
      const devbox = runtime.get(account, params.id)
      return usageOf(devbox, resourcesOf(devbox.launch_parameters), now())
    },
    get: ({ params, account }) => runtime.get(account, params.id),
    update: ({ params, body, account }) => runtime.update(account, params.id, body),
    waitForStatus: async ({ params, body, account, signal }) => {
      const waitMs = Math.min((body.timeout_seconds ?? maxWaitMs) * 1000, maxWaitMs)
      const devbox = await runtime.reaches(account, params.id, body.statuses, waitMs, signal)
      if (devbox) return devbox
      const { status } = runtime.get(account, params.id)
      throw new ServiceError('timeout', `Devbox ${params.id} is ${status}, not ${body.statuses.join(' or ')}`, {
        shouldRetry: true,
      })
    },
    suspend: ({ params, account }) => runtime.suspend(account, params.id),
    resume: ({ params, account }) => runtime.resume(account, params.id),
    shutdown: ({ params, query, account }) => runtime.shutdown(account, params.id, { force: isForced(query.force) }),
    keepAlive: ({ params, account }) => {
      runtime.keepAlive(account, params.id)
      return {}
    },
    createPtyTunnel: async ({ params, ...caller }) => {
      await runtime.adopted(params.id)
      runtime.running(caller.account, params.id, 'open_terminal')
      return ptyTokens.create(grantOf(caller, params.id))
    },
  })

const isForced = (force: string | undefined): boolean => {
  if (force !== undefined && !['', 'true', 'false'].includes(force))
    throw invalid({ field: 'force', message: 'must be true or false' })
  return force === 'true'
}
