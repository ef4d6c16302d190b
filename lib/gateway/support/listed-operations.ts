import { endpoints } from '#lib/contract/index.ts'
import { isExtension } from '#lib/protocol/support.ts'

/** Operations for the page that lists them: passed as data, so that it doesn't load every schema of the contract. */
export const listedOperations = endpoints
  .filter(({ scope }) => scope !== 'local')
  .map(({ id, method, path }) => ({ id, method, path, isExtension: isExtension(id) }))
