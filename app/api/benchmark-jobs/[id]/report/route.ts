import { jobReport } from '#lib/gateway/reports/job-report.ts'

export const dynamic = 'force-dynamic'

interface Context {
  params: Promise<{ id: string }>
}

export const GET = async (request: Request, { params }: Context) => jobReport(request, (await params).id)
