import { checkStream } from '#lib/gateway/live/self-check.ts'

export const GET = (request: Request) => checkStream(request)
