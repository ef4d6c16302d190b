import { apiProxy } from '#lib/gateway/api-proxy.ts'

export const dynamic = 'force-dynamic'

export {
  apiProxy as DELETE,
  apiProxy as GET,
  apiProxy as HEAD,
  apiProxy as OPTIONS,
  apiProxy as PATCH,
  apiProxy as POST,
  apiProxy as PUT,
}
