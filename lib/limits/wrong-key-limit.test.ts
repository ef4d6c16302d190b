import { expect, it } from 'vitest'
import { clientId } from './wrong-key-limit.ts'

it('counts an IPv4 address or an IPv6 network as one client', () => {
  expect(['192.0.2.7', '::ffff:192.0.2.7', 'unknown', ''].map(clientId)).toEqual([
    '192.0.2.7',
    '::ffff:192.0.2.7',
    'unknown',
    '',
  ])
  const network = '2001:db8:0:7::/64'
  for (const one of ['2001:db8:0:7::1', '2001:DB8::7:a:b:c:d', '2001:0db8:0000:0007:1:2:3:4', '2001:db8:0:7::'])
    expect(clientId(one), one).toBe(network)
  expect(['2001:db8:0:8::1', '::1', '::', 'fe80::1%eth0', '1::8'].map(clientId)).toEqual([
    '2001:db8:0:8::/64',
    '0:0:0:0::/64',
    '0:0:0:0::/64',
    'fe80:0:0:0::/64',
    '1:0:0:0::/64',
  ])
})
