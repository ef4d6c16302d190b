import { revealValue } from '#lib/gateway/reveal.ts'

export const POST = (request: Request) => revealValue(request)
