import { finishSignOn } from '#lib/gateway/accounts/single-sign-on.ts'

export const GET = (request: Request) => finishSignOn(request)
