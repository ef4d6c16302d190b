import { handleSessions } from '#lib/gateway/people/session-routes.ts'

export const GET = (request: Request) => handleSessions(request)
export const DELETE = (request: Request) => handleSessions(request)
