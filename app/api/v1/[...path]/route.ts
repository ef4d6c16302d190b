import { proxy } from '#lib/gateway/proxy/proxy.ts'

export const dynamic = 'force-dynamic'

export const GET = (request: Request) => proxy(request)
export const POST = (request: Request) => proxy(request)
export const DELETE = (request: Request) => proxy(request)
export const PUT = (request: Request) => proxy(request)
export const PATCH = (request: Request) => proxy(request)
export const HEAD = (request: Request) => proxy(request)
export const OPTIONS = (request: Request) => proxy(request)
