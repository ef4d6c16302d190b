import { createHash } from 'node:crypto'

/** Looking up a secret by its digest keeps timing independent of the stored ones. */
export const digestOf = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('base64url')
