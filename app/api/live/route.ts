import { plainRequest } from '#lib/gateway/live/self-check.ts'

export const GET = (request: Request) => plainRequest(request)
