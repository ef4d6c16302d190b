import { apiProxy } from '#lib/gateway/api-proxy.ts'

export {
  apiProxy as DELETE,
  apiProxy as GET,
  apiProxy as HEAD,
  apiProxy as OPTIONS,
  apiProxy as PATCH,
  apiProxy as POST,
  apiProxy as PUT,
}
