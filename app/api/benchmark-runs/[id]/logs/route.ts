import { listRunLogs } from '#lib/gateway/logs/run-logs.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ id: string }> }) =>
  listRunLogs(request, (await params).id)
