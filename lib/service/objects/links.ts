import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { objects } from '#lib/contract/objects.ts'
import type { Scheme } from '#lib/service/http/auth.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { ObjectRecord, ObjectStore } from '#lib/service/store/objects.ts'

type Method = 'GET' | 'PUT'

const signatureOf = ({ id, link_key }: ObjectRecord, method: Method, expiresMs: number): string =>
  createHmac('sha256', Buffer.from(link_key, 'hex')).update(`${method} ${id} ${expiresMs}`).digest('base64url')

/** Returns a link that is valid without an API key until `expiresMs`. */
export const contentLink = (origin: string, object: ObjectRecord, method: Method, expiresMs: number): string =>
  `${origin}/objects/${object.id}/content?expires=${expiresMs}&signature=${signatureOf(object, method, expiresMs)}`

export const objectSchemes = (store: ObjectStore, now: () => number): [Endpoint, Scheme][] => {
  const bySignature =
    (method: Method): Scheme =>
    (_request: IncomingMessage, { params, search }) => {
      const query = new URLSearchParams(search)
      const expiresMs = Number(query.get('expires'))
      const object = store.find(params.id ?? '')
      const isSigned = object && equal(query.get('signature') ?? '', signatureOf(object, method, expiresMs))
      if (!isSigned || expiresMs <= now() || object.state === 'DELETED')
        throw new ServiceError('forbidden', 'The link is invalid or has expired', { shouldRetry: false })
      return { account: object.account }
    }
  return [
    [objects.putContent, bySignature('PUT')],
    [objects.getContent, bySignature('GET')],
  ]
}

const equal = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
