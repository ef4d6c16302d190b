import { handlePersonalKeys } from '#lib/gateway/people/key-routes.ts'

export const GET = (request: Request) => handlePersonalKeys(request)
export const POST = (request: Request) => handlePersonalKeys(request)
export const DELETE = (request: Request) => handlePersonalKeys(request)
