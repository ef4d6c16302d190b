/** That the service at `where` cannot be reached, and why, where the failure tells something that people can mend. */
export const unreachable = (where: string, error: unknown): string =>
  `The service at ${where} cannot be reached${reasonOf(codesOf(error))}`

const codesOf = (error: unknown): string[] => {
  if (!(error instanceof Error)) return []
  const { code } = error as { code?: unknown }
  return [...(typeof code === 'string' ? [code] : []), ...codesOf(error.cause)]
}

const reasonOf = (codes: readonly string[]): string => {
  for (const code of codes) {
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ': its name leads to no address'
    if (code === 'CERT_HAS_EXPIRED') return ': its certificate has expired'
    if (code === 'CERT_NOT_YET_VALID') return ': its certificate is not valid yet'
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return ': its certificate is for another name'
    if (untrusted.has(code)) return `: its certificate is not trusted (${code})`
    if (code.startsWith('ERR_SSL_')) return ': it does not speak TLS as https wants it'
  }
  return ''
}

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])
