import { connect } from 'node:http2'
import { createConnection } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendRaw, startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
let port: string
beforeAll(async () => {
  service = await startService({ isolation: 'none', allowHosts: ['deck.example', 'proxied.example:8443'] })
  port = new URL(service.url).port
})
afterAll(() => service.close())

const authorized = () => ({ authorization: `Bearer ${service.key}` })

describe('the Host header', () => {
  it.each([
    ['127.0.0.1:PORT', 200],
    ['LOCALHOST:PORT', 200],
    ['[::1]:PORT', 200],
    ['deck.example', 200],
    ['deck.example:PORT', 200],
    ['proxied.example:8443', 200],
    ['proxied.example', 403],
    ['proxied.example:PORT', 403],
    ['127.0.0.1', 403],
    ['127.0.0.1:1', 403],
    ['localhost.evil.example:PORT', 403],
    ['evil.example@127.0.0.1:PORT', 403],
    ['127.0.0.1:PORT, evil.example', 403],
    ['0.0.0.0:PORT', 403],
    ['2130706433:PORT', 403],
  ])('%j returns %i', async (host, expected) => {
    const headers = { ...authorized(), host: host.replace('PORT', port) }
    expect((await sendRaw(service.url, { path: '/v1/axons', headers })).status).toBe(expected)
  })

  it('is rejected if sent twice', async () => {
    const request = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: 127.0.0.1:${port}\r\n\r\n`
    expect(await firstLine(request)).toMatch(/^HTTP\/1\.1 40[03] /)
  })

  it('is :authority on HTTP/2', async () => {
    expect(await overHttp2({ ':authority': `127.0.0.1:${port}` })).toBe(200)
    expect(await overHttp2({ ':authority': 'evil.example' })).toBe(403)
    expect(await overHttp2({ ':authority': `127.0.0.1:${port}`, host: 'evil.example' })).toBe(403)
  })
})

describe('the Origin header', () => {
  it.each(['https://evil.example', 'null', 'SELF', ''])('%j is rejected, even with the key', async (given) => {
    const origin = given.replace('SELF', service.url)
    const preflight = { origin, 'access-control-request-method': 'POST' }
    for (const [method, sent] of [
      ['GET', { ...authorized(), origin }],
      ['OPTIONS', preflight],
    ] as const) {
      const { status, headers } = await sendRaw(service.url, { method, path: '/v1/axons', headers: sent })
      expect(status).toBe(403)
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

const firstLine = (request: string) =>
  new Promise<string>((resolve, reject) => {
    const socket = createConnection(Number(port), '127.0.0.1', () => socket.write(request))
    socket.once('data', (data) => {
      resolve(String(data).split('\r\n')[0] ?? '')
      socket.destroy()
    })
    socket.once('error', reject)
  })

const overHttp2 = (headers: Record<string, string>) =>
  new Promise<number>((resolve, reject) => {
    const session = connect(service.url)
    session.once('error', reject)
    const stream = session.request({ ':path': '/v1/axons', ...authorized(), ...headers })
    stream.once('error', reject)
    stream.once('response', (headers) => {
      resolve(Number(headers[':status']))
      session.destroy()
    })
  })
