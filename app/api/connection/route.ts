import { connectionView } from '#lib/gateway/live/self-check.ts'

export const GET = (request: Request) => connectionView(request)
export const POST = (request: Request) => connectionView(request)
