import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
let port: number
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  port = Number(new URL(service.url).port)
})
afterAll(() => service.close())

const overHttp2 = async (path: string) => {
  const session = connectHttp2(service.url)
  const stream = session.request({ ':path': path, authorization: `Bearer ${service.key}` })
  const [headers] = await once(stream, 'response')
  let body = ''
  for await (const chunk of stream.setEncoding('utf8')) body += chunk
  session.close()
  return { status: headers[':status'], body: JSON.parse(body) }
}

const answerTo = async (chunks: (string | Buffer)[]) => {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  await once(socket, 'connect')
  for (const chunk of chunks) await new Promise((resolve) => socket.write(chunk, () => setImmediate(resolve)))
  let text = ''
  for await (const chunk of socket.setEncoding('latin1')) text += chunk
  return text
}

describe('one port', () => {
  it('serves HTTP/1.1 and cleartext HTTP/2 alike', async () => {
    const axon = await service.client.axons.create({ body: { name: 'both' } })
    expect(await overHttp2(`/v1/axons/${axon.id}`)).toEqual({ status: 200, body: axon })
    expect(await (await service.fetch(`/v1/axons/${axon.id}`)).json()).toEqual(axon)
    expect(await overHttp2('/v1/axons?limit=-1')).toMatchObject({ status: 400, body: { field: 'limit' } })
    expect(await overHttp2('/v1/axons/%2e%2e')).toMatchObject({ status: 400, body: { field: 'id' } })
  })

  it('detects the protocol from single bytes', async () => {
    const request = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`
    expect(await answerTo([...request])).toMatch(/^HTTP\/1\.1 200 /)
  })

  it.each([
    ['both a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two different lengths', 'Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd'],
    ['an invalid header', 'no header\r\n\r\n'],
  ])('rejects a request with %s', async (_, rest) => {
    expect(await answerTo([`POST /v1/axons HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${rest}`])).toMatch(
      /^HTTP\/1\.1 400 /,
    )
  })

  it('closes connections with unfinished headers', async () => {
    const silent = answerTo(['P'])
    const slow = answerTo([`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`])
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
    const noRequest = answerTo([preface, '\0\0\0\x04\0\0\0\0\0'])
    // First byte of a request's headers.
    const halfRequest = answerTo([preface, '\0\0\0\x04\0\0\0\0\0', '\0\0\x01\x01\0\0\0\0\x01\x02'])
    expect(await silent).toBe('')
    await Promise.all([noRequest, halfRequest])
    expect(await slow).toMatch(/^HTTP\/1\.1 408 /)
  })
})

describe('close', () => {
  it('closes the connections that clients keep open', async () => {
    const held = await startService({ isolation: 'none' })
    const heldPort = Number(new URL(held.url).port)
    const idle = connect(heldPort, '127.0.0.1')
    const half = connect(heldPort, '127.0.0.1', () => half.write('POST /v1/axons HTTP/1.1\r\n'))
    const session = connectHttp2(held.url)
    session.on('error', () => undefined)
    await Promise.all([once(idle, 'connect'), once(half, 'connect'), once(session, 'remoteSettings')])
    const closed = [once(idle, 'close'), once(half, 'close'), once(session, 'close')]
    for (const socket of [idle, half]) socket.on('error', () => undefined)
    await held.close()
    await Promise.all(closed)
    await expect(fetch(`${held.url}/healthz`)).rejects.toThrow()
  })
})
