import { liveSnapshot } from '#lib/gateway/live/live-snapshot.ts'

export const GET = (request: Request) => liveSnapshot(request)
