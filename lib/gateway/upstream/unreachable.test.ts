import { expect, it } from 'vitest'
import { unreachable } from './unreachable.ts'

const failing = (code: string) =>
  unreachable('https://s', new Error('fetch failed', { cause: Object.assign(new Error('tls'), { code }) }))

it('adds the cause where someone can fix it', () => {
  expect(failing('ENOTFOUND')).toMatch(/host name not found/)
  expect(failing('CERT_HAS_EXPIRED')).toMatch(/its certificate has expired/)
  expect(failing('DEPTH_ZERO_SELF_SIGNED_CERT')).toMatch(/its certificate is not trusted/)
  expect(failing('ECONNREFUSED')).toBe('Cannot reach the service at https://s')
  expect(unreachable('https://s', 'no error')).toBe('Cannot reach the service at https://s')
})
