import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { startConsole } from '../testing.ts'

// Self-signed for 127.0.0.1, with the key below. The first one expired in 2021.
const expired = `-----BEGIN CERTIFICATE-----
MIIBZDCCAQmgAwIBAgIBATAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9leHBpcmVk
LmV4YW1wbGUwHhcNMjAwMTAxMDAwMDAwWhcNMjEwMTAxMDAwMDAwWjAaMRgwFgYD
VQQDDA9leHBpcmVkLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARx
s+HhlBehNUENhxs7uo3TSKuK1prb7TbRryX8t4M8riVH+KIEB7/82+/2BLtnk7WX
moeIpt9doF7PoIBhO66Mo0AwPjAPBgNVHREECDAGhwR/AAABMAwGA1UdEwQFMAMB
Af8wHQYDVR0OBBYEFHZ7pNGN+bcQTk6qmW7M1fK6PmIUMAoGCCqGSM49BAMCA0kA
MEYCIQCXuCSUwVYFs8XVUu3hw/3QMcaEufc8V+ZboCqh+PSUjAIhAIOKVkLycsW1
V4wM1aq1wxZZFZKra2Ry3LkbTen4gwKr
-----END CERTIFICATE-----`
const untrusted = `-----BEGIN CERTIFICATE-----
MIIBZTCCAQugAwIBAgIBAjAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9kZXZkZWNr
LmV4YW1wbGUwIBcNMjAwMTAxMDAwMDAwWhgPOTk5OTEyMzEyMzU5NTlaMBoxGDAW
BgNVBAMMD2RldmRlY2suZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BHGz4eGUF6E1QQ2HGzu6jdNIq4rWmtvtNtGvJfy3gzyuJUf4ogQHv/zb7/YEu2eT
tZeah4im312gXs+ggGE7royjQDA+MA8GA1UdEQQIMAaHBH8AAAEwDAYDVR0TBAUw
AwEB/zAdBgNVHQ4EFgQUdnuk0Y35txBOTqqZbszV8ro+YhQwCgYIKoZIzj0EAwID
SAAwRQIgFjyWK1d4jrSvyArPrzRmvSyS/twCiVJDct6vG2//yUwCIQDz6GhdVg8Y
ZXoayehau6LqJzyzHOgF9+8/TbC8Npw0Hg==
-----END CERTIFICATE-----`
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYJNMqtzrJpP0dEod
F5wEB754gsUX+zUGX5eTAlnq1g6hRANCAARxs+HhlBehNUENhxs7uo3TSKuK1prb
7TbRryX8t4M8riVH+KIEB7/82+/2BLtnk7WXmoeIpt9doF7PoIBhO66M
-----END PRIVATE KEY-----`

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const overTls = async (cert: string) => {
  const server = createServer({ cert, key }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => server.close())
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it.each([
  ['a host that does not exist', async () => 'https://devdeck.invalid', 'host name not found'],
  ['a self-signed certificate', () => overTls(untrusted), 'its certificate is not trusted'],
  ['an expired certificate', () => overTls(expired), 'its certificate has expired'],
])('names the cause and no key: %s', async (_, address, cause) => {
  const url = await address()
  const gateway = await startConsole({ url })
  closers.push(gateway.close)
  const { status, body } = await gateway.ask('', 'POST', '/api/session', { api_key: 'ak_entered' })
  expect([status, body.message]).toEqual([503, expect.stringContaining(`Cannot reach the service at ${url}: ${cause}`)])
  expect(JSON.stringify(body)).not.toContain('ak_entered')
})
