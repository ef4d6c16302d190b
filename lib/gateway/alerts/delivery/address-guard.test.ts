import { expect, it } from 'vitest'
import { isPrivateAddress, isPrivateHost } from './address-guard.ts'

const privateAddresses = [
  ...[
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.31.0.1',
    '192.168.1.1',
    '255.255.255.255',
  ],
  ...['::', '::1', '::ffff:10.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', 'fd00::1', 'fe80::1', 'ff02::1'],
]

it('recognizes addresses that are not on the internet, in every notation', () => {
  expect(privateAddresses.filter((address) => !isPrivateAddress(address))).toEqual([])
  const hosts = ['127.1', '2130706433', '0x7f000001', '[::1]', '[::ffff:7f00:1]', '[::ffff:169.254.169.254]']
  expect(hosts.filter((host) => !isPrivateHost(`http://${host}/`))).toEqual([])
  const publicAddresses = ['1.1.1.1', '172.32.0.1', '2606:4700::1111', '64:ff9b::101:101']
  expect(publicAddresses.filter(isPrivateAddress)).toEqual([])
})
