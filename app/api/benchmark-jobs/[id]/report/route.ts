import { jobReport } from '#lib/gateway/reports/job-report.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ id: string }> }) =>
  jobReport(request, (await params).id)
