import type { IncomingMessage } from 'node:http'
import { newId } from '#lib/service/kit/ids.ts'

/** The caller's own `x-request-id` where it is fit for a log line, else a new one. */
export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : newId('req')
}
