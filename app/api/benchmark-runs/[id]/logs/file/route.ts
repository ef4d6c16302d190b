import { getRunLogFile } from '#lib/gateway/logs/run-logs.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ id: string }> }) =>
  getRunLogFile(request, (await params).id)
