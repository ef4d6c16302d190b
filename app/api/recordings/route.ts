import { listRecordings } from '#lib/gateway/terminals/recordings.ts'

export const dynamic = 'force-dynamic'

export const GET = (request: Request) => listRecordings(request)
