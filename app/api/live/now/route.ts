import { liveNow } from '#lib/gateway/live/live-now.ts'

export const dynamic = 'force-dynamic'

export const GET = (request: Request) => liveNow(request)
