import { listScenarioRunLogs } from '#lib/gateway/logs/run-logs.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ id: string }> }) =>
  listScenarioRunLogs(request, (await params).id)
