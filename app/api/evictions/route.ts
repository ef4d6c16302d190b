import { relayEvictions } from '#lib/gateway/evictions/hub.ts'

export const dynamic = 'force-dynamic'

export const GET = (request: Request) => relayEvictions(request)
