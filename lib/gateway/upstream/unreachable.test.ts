import { expect, it } from 'vitest'
import { unreachable } from './unreachable.ts'

const failing = (code: string) =>
  unreachable('https://s', new Error('fetch failed', { cause: Object.assign(new Error('tls'), { code }) }))

it('says why where people can mend it', () => {
  expect(failing('ENOTFOUND')).toMatch(/its name leads to no address/)
  expect(failing('CERT_HAS_EXPIRED')).toMatch(/its certificate has expired/)
  expect(failing('DEPTH_ZERO_SELF_SIGNED_CERT')).toMatch(/its certificate is not trusted/)
  expect(failing('ECONNREFUSED')).toBe('The service at https://s cannot be reached')
  expect(unreachable('https://s', 'no error')).toBe('The service at https://s cannot be reached')
})
