import { relayEvictions } from '#lib/gateway/eviction-hub.ts'

export const dynamic = 'force-dynamic'

export const GET = (request: Request) => relayEvictions(request)
