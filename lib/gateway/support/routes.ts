import { requireCaller } from '../accounts/session-cookie.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { learnAgain, probedSupport } from './service-support.ts'

const waitMs = 20_000

/** `GET /api/support`: what the service offers. `POST` checks it again. */
export const handleSupport = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const session = await requireCaller(request, request.method === 'GET' ? 'read' : 'write')
    if (request.method === 'GET') return json(await probedSupport(session, waitMs))
    return json(
      await learnAgain(session).catch((error: unknown) => {
        throw new HttpError('unavailable', error instanceof Error ? error.message : 'The service is not responding')
      }),
    )
  })
