import { compareReport } from '#lib/gateway/reports/compare-report.ts'

export const GET = (request: Request) => compareReport(request)
