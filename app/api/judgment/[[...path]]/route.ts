import { handleJudgment } from '#lib/gateway/judgment/routes.ts'

export const GET = (request: Request) => handleJudgment(request)
export const POST = (request: Request) => handleJudgment(request)
export const DELETE = (request: Request) => handleJudgment(request)
