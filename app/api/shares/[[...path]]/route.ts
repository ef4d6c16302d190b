import { handleShares } from '#lib/gateway/shares/routes.ts'

export const GET = (request: Request) => handleShares(request)
export const POST = (request: Request) => handleShares(request)
export const DELETE = (request: Request) => handleShares(request)
