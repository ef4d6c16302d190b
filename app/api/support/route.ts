import { handleSupport } from '#lib/gateway/support/routes.ts'

export const GET = (request: Request) => handleSupport(request)
export const POST = (request: Request) => handleSupport(request)
