import { ApiError } from '#lib/client/api-error.ts'
import { type Cluster, cluster } from '#lib/contract/cluster.ts'
import type { Endpoint, EndpointCall } from '#lib/contract/endpoint.ts'
import type { ClusterView } from '#lib/protocol/cluster.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { actorOf, withActivityRecord } from '../activity/activity.ts'
import { alerts } from '../alerts/alert-books.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { readJsonBody } from '../http/json-body.ts'
import { decodeSegment } from '../http/request-guards.ts'
import { registry } from '../registry/registry.ts'
import { currentSupport } from '../support/service-support.ts'
import { clientFor, toHttpError } from '../upstream/client.ts'

const readTimeoutMs = 10_000
const writeTimeoutMs = 30_000

/** Null if the service has none. */
export const readCluster = async (holder: KeyHolder, timeoutMs: number): Promise<Cluster | null> => {
  const { operations } = await currentSupport(holder, timeoutMs)
  if (operations[cluster.get.id] === 'no') return null
  return clientFor(holder.api_key, timeoutMs)
    .cluster.get()
    .catch((error: unknown) => {
      if (error instanceof ApiError && (error.status === 404 || error.status === 501)) return null
      throw error
    })
}

/** Draining a node suspends devboxes of every account, so it takes the key of the service's own account. */
export const operatorRefusal = ({ api_key }: Pick<KeyHolder, 'api_key'>): string | null => {
  const { service } = registry()
  if (!service.embedded) return "This console doesn't run the service. Drain nodes on the service's command line"
  return service.ownKey() === api_key ? null : "Only the service's own account can drain nodes"
}

/** Handles `/api/cluster` and everything below. */
export const handleCluster = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const path = new URL(request.url).pathname.split('/').slice(3)
    const session = await requireCaller(request, request.method === 'GET' ? 'read' : 'write')
    if (request.method === 'GET' && path.length === 0) {
      const found = await readCluster(session, readTimeoutMs).catch(fail)
      return json({ cluster: found, operator_refusal: operatorRefusal(session) } satisfies ClusterView)
    }
    const [nodes, id, action] = path
    if (request.method !== 'POST' || nodes !== 'nodes' || !id || (action !== 'drain' && action !== 'activate'))
      throw new HttpError('not_found', `${request.method} /${path.join('/')} does not exist`)
    const refusal = operatorRefusal(session)
    const token = registry().service.operatorToken()
    if (refusal !== null) throw new HttpError('forbidden', refusal)
    if (token === undefined) throw new HttpError('unavailable', 'The service is starting; try again')
    const api = clientFor(token, writeTimeoutMs).cluster
    const params = { id: decodeSegment(id) }
    const [endpoint, call]: [Endpoint, () => Promise<unknown>] =
      action === 'activate'
        ? [cluster.activateNode, () => api.activateNode({ params })]
        : [cluster.drainNode, async () => api.drainNode({ params, body: (await readJsonBody(request)) as DrainBody })]
    const actor = actorOf(session, (name) => request.headers.get(name))
    return withActivityRecord(actor, { operation: endpoint.id, subject: params.id }, async () => {
      const answer = await call().catch(fail)
      // It withdraws the evictions of a drain, in every account.
      if (action === 'activate') for (const book of alerts().books.values()) book.refreshEvictions()
      return json(answer)
    })
  })

/** The service validates it. */
type DrainBody = EndpointCall<typeof cluster.drainNode>['body']

const fail = (error: unknown): never => {
  throw error instanceof HttpError ? error : toHttpError(error)
}
