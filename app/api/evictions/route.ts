import { relayEvictions } from '#lib/gateway/alerts/relay.ts'

export const dynamic = 'force-dynamic'

export const GET = (request: Request) => relayEvictions(request)
