import { trendReport } from '#lib/gateway/reports/trend-report.ts'

export const GET = (request: Request) => trendReport(request)
