import { listRecordings } from '#lib/gateway/recordings.ts'

export const dynamic = 'force-dynamic'

export const GET = (request: Request) => listRecordings(request)
