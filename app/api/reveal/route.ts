import { revealValue } from '#lib/gateway/proxy/masking.ts'

export const dynamic = 'force-dynamic'

export const POST = (request: Request) => revealValue(request)
