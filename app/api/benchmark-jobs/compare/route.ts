import { compareReport } from '#lib/gateway/reports/compare-report.ts'

export const dynamic = 'force-dynamic'

export const GET = (request: Request) => compareReport(request)
