import { requireCaller } from '../accounts/session-cookie.ts'
import { actorOf, withActivityRecord } from '../activity/activity.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { demos } from './demos.ts'

/** `/api/demo`: GET returns the demo data of the account, POST loads it, DELETE removes it. */
export const handleDemo = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { method } = request
    const session = await requireCaller(request, method === 'GET' ? 'read' : 'write')
    if (method === 'GET') return json(demos().view(session.account.id))
    const actor = actorOf(session, (name) => request.headers.get(name))
    if (method === 'POST')
      return withActivityRecord(actor, { operation: 'demo.load', subject: 'Demo data' }, async () =>
        json(await demos().load(session)),
      )
    if (method === 'DELETE')
      return withActivityRecord(actor, { operation: 'demo.remove', subject: 'Demo data' }, async () =>
        json(demos().remove(session)),
      )
    throw new HttpError('not_found', `${method} /api/demo does not exist`)
  })
