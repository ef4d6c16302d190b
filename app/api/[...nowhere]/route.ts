import { HttpError, handleRequest } from '#lib/gateway/http/handle-request.ts'

/** Unknown API addresses return a JSON error instead of the 404 page. */
const refuse = (request: Request) =>
  handleRequest(request, async () => {
    throw new HttpError('not_found', 'No such API route')
  })

export { refuse as DELETE, refuse as GET, refuse as PATCH, refuse as POST, refuse as PUT }
