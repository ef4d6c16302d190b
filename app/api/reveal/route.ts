import { revealValue } from '#lib/gateway/reveal.ts'

export const dynamic = 'force-dynamic'

export const POST = (request: Request) => revealValue(request)
