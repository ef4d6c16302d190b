import { originOfHost } from '../../http/origin.ts'
import { registry } from '../../registry/registry.ts'
import { serviceNow } from '../../upstream/clock.ts'
import type { Provenance } from './document.ts'
import { contentPolicy } from './style.ts'

/** The page with the figures that a request for a report computes. */
export const provenanceOf = (request: Request): Provenance => {
  const { pathname, searchParams } = new URL(request.url)
  for (const name of ['format', 'table']) searchParams.delete(name)
  const origin = registry().config.publicOrigins[0] ?? originOfHost(request.headers.get('host'))
  const path = pathname.replace(/^\/api/, '').replace(/\/report$/, '')
  return { now_ms: serviceNow(), url: origin && `${origin}${path}${searchParams.size > 0 ? `?${searchParams}` : ''}` }
}

export const htmlFile = (document: string): Response =>
  new Response(document, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': 'attachment; filename="benchmark-report.html"',
      'content-security-policy': `${contentPolicy}; sandbox`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
