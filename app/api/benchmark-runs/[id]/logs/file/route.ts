import { getRunLogFile } from '#lib/gateway/logs/run-logs.ts'

export const dynamic = 'force-dynamic'

interface Context {
  params: Promise<{ id: string }>
}

export const GET = async (request: Request, { params }: Context) => getRunLogFile(request, (await params).id)
