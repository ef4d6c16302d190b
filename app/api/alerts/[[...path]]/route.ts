import { handleAlerts } from '#lib/gateway/alerts/routes.ts'

export const GET = (request: Request) => handleAlerts(request)
export const POST = (request: Request) => handleAlerts(request)
export const DELETE = (request: Request) => handleAlerts(request)
