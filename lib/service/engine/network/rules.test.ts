import { describe, expect, it } from 'vitest'
import { ownAddresses } from '#lib/service/testing/neighbor.ts'
import { allowsName, blockedIpv4, isReachable } from './rules.ts'

const rules = { privateNetwork: false }

describe('names', () => {
  const named = { ...rules, hostnames: ['github.com', '*.npmjs.org'] }

  it.each(['github.com', 'GitHub.com', 'github.com.', 'registry.npmjs.org', 'a.b.npmjs.org'])('allow %s', (name) =>
    expect(allowsName(name, named)).toBe(true),
  )

  it.each(['npmjs.org', 'x.github.com', 'evilgithub.com', 'evilnpmjs.org', '.npmjs.org', 'github.com.evil.org', ''])(
    'reject %j',
    (name) => expect(allowsName(name, named)).toBe(false),
  )

  it('are all allowed by default', () => expect(allowsName('any.org', rules)).toBe(true))
})

describe('addresses', () => {
  it.each(['93.184.216.34', '2606:2800:220:1::1'])('%s is allowed', (address) =>
    expect(isReachable(address, rules)).toBe(true),
  )

  it.each([
    ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '::', '::1', '224.0.0.1', '255.255.255.255', 'ff02::1', 'name', ''],
    ...['::ffff:127.0.0.1', '::ffff:93.184.216.34', '64:ff9b::7f00:1', '2002:7f00:1::', '::127.0.0.1', '::a9fe:a9fe'],
    ...['64:ff9b:1::a9fe:a9fe', '2001:0:7f00:1::1', '::ffff:0:7f00:1'],
  ])('%j is always blocked', (address) => {
    expect(isReachable(address, rules)).toBe(false)
    expect(isReachable(address, { privateNetwork: true })).toBe(false)
  })

  it.each([
    ...['10.1.2.3', '100.64.0.1', '169.254.169.254', '172.31.0.1', '192.168.1.1', 'fd00::1', 'fe80::1', 'fec0::1'],
    ...['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254'],
  ])('%s is allowed only with private networks', (address) => {
    expect(isReachable(address, rules)).toBe(false)
    expect(isReachable(address, { privateNetwork: true })).toBe(true)
  })

  it('of this host are always blocked', () => {
    for (const address of ownAddresses()) {
      expect(isReachable(address, { privateNetwork: true })).toBe(false)
      if (!address.includes(':')) expect(blockedIpv4({ privateNetwork: true })).toContain(`${address}/32`)
    }
  })
})
