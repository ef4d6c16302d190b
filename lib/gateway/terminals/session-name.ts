import { createHash } from 'node:crypto'

/** The shell's name at the service. Ids may contain characters that names must not; such ids are hashed. */
export const sessionNameOf = (devboxId: string, name: string): string => {
  const prefix = /^[A-Za-z0-9_-]+$/.test(devboxId)
    ? devboxId
    : createHash('sha256').update(devboxId).digest('base64url').slice(0, 22)
  return `${prefix}-${name}`
}
