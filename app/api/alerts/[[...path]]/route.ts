import { answerAlerts } from '#lib/gateway/alerts/alerts.ts'

export const dynamic = 'force-dynamic'

export const GET = (request: Request) => answerAlerts(request)
export const POST = (request: Request) => answerAlerts(request)
export const DELETE = (request: Request) => answerAlerts(request)
