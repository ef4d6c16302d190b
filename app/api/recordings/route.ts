import { listRecordings } from '#lib/gateway/terminals/recordings.ts'

export const GET = (request: Request) => listRecordings(request)
