import type { Endpoint } from '#lib/contract/endpoint.ts'
import type { Support } from '#lib/protocol/support.ts'

/**
 * What a response shows about an operation. `missing or absent`: the record may be missing, or the operation.
 * A 401 for an accepted key arrives here as 501.
 */
export const judge = ({ path }: Pick<Endpoint, 'path'>, status: number): Support | 'missing or absent' => {
  if (status === 405 || status === 501) return 'no'
  if (status === 404) return path.includes('/:') ? 'missing or absent' : 'no'
  if (status === 401 || status === 403 || status === 429 || status >= 500) return 'unknown'
  return 'yes'
}
