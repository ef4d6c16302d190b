export const errorStatus = {
  invalid_argument: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  timeout: 408,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  not_implemented: 501,
  bad_upstream: 502,
  unavailable: 503,
  insufficient_storage: 507,
} as const

export type ErrorCode = keyof typeof errorStatus

export const codeForStatus = (status: number): ErrorCode => {
  for (const [code, known] of Object.entries(errorStatus)) if (known === status) return code as ErrorCode
  return status >= 500 ? 'bad_upstream' : 'invalid_argument'
}
