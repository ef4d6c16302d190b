import { plainRequest } from '#lib/gateway/live/self-check.ts'

export const dynamic = 'force-dynamic'

export const GET = (request: Request) => plainRequest(request)
