import { getScenarioRunLogFile } from '#lib/gateway/logs/run-logs.ts'

export const dynamic = 'force-dynamic'

interface Context {
  params: Promise<{ id: string }>
}

export const GET = async (request: Request, { params }: Context) => getScenarioRunLogFile(request, (await params).id)
