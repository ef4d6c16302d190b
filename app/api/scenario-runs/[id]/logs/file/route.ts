import { getScenarioRunLogFile } from '#lib/gateway/logs/run-logs.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ id: string }> }) =>
  getScenarioRunLogFile(request, (await params).id)
