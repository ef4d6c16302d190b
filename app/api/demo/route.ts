import { handleDemo } from '#lib/gateway/demo/routes.ts'

export const GET = (request: Request) => handleDemo(request)
export const POST = (request: Request) => handleDemo(request)
export const DELETE = (request: Request) => handleDemo(request)
