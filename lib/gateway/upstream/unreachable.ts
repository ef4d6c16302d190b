/** Says that the service cannot be reached, with the cause where someone can fix it. */
export const unreachable = (serviceUrl: string, error: unknown): string =>
  `Cannot reach the service at ${serviceUrl}${causeOf(errorCodes(error))}`

const errorCodes = (error: unknown): string[] => {
  if (!(error instanceof Error)) return []
  const { code } = error as { code?: unknown }
  return [...(typeof code === 'string' ? [code] : []), ...errorCodes(error.cause)]
}

const causeOf = (codes: readonly string[]): string => {
  for (const code of codes) {
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ': host name not found'
    if (code === 'CERT_HAS_EXPIRED') return ': its certificate has expired'
    if (code === 'CERT_NOT_YET_VALID') return ': its certificate is not valid yet'
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return ': its certificate is for another host name'
    if (untrustedCodes.has(code)) return `: its certificate is not trusted (${code})`
    if (code.startsWith('ERR_SSL_')) return ': the TLS handshake failed'
  }
  return ''
}

const untrustedCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])
