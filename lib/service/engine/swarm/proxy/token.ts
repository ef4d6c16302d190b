import { createHmac, timingSafeEqual } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Rules } from '../../network/rules.ts'

/** What a devbox may reach, as stated to the proxies by the service. */
export interface Grant {
  devboxId: string
  /** The devbox's own address. */
  address: string
  rules: Omit<Rules, 'blocked'>
}

/** Clients send it in a header, and every process has it in its environment eleven times. */
const maxTokenBytes = 16 * 1024

export const isTooLong = (hostnames: readonly string[]): boolean => {
  const grant = { devboxId: 'dbx_0000000000000000000', address: '255.255.255.255' }
  return signGrant('', { ...grant, rules: { hostnames, privateNetwork: true } }).length > maxTokenBytes
}

export const signGrant = (key: string, grant: Grant): string => {
  const statement = deflateRawSync(JSON.stringify(grant)).toString('base64url')
  return `${statement}.${mac(key, statement).toString('base64url')}`
}

/** Undefined without a valid signature. */
export const readGrant = (key: string, token: string): Grant | undefined => {
  const [statement = '', signature = ''] = token.split('.')
  const given = Buffer.from(signature, 'base64url')
  const expected = mac(key, statement)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  return JSON.parse(inflateRawSync(Buffer.from(statement, 'base64url')).toString())
}

const mac = (key: string, statement: string) => createHmac('sha256', key).update(statement).digest()
