import { HttpError, handleRequest } from '#lib/gateway/http/handle-request.ts'

export const dynamic = 'force-dynamic'

/** An address that no other route has; the page for those is for people. */
const refuse = (request: Request) =>
  handleRequest(request, async () => {
    throw new HttpError('not_found', 'The console answers nothing at this address')
  })

export { refuse as DELETE, refuse as GET, refuse as PATCH, refuse as POST, refuse as PUT }
