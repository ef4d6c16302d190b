import { revealValue } from '#lib/gateway/http/secrets.ts'

export const dynamic = 'force-dynamic'

export const POST = (request: Request) => revealValue(request)
