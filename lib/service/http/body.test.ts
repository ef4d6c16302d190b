import { once } from 'node:events'
import { connect } from 'node:http2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultMaxBodyBytes as maxBodyBytes } from '#lib/contract/endpoint.ts'
import { sendRaw, startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())

const post = async (
  body: string | Buffer | undefined,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) => {
  const authorized = { authorization: `Bearer ${service.key}`, ...headers }
  const response = await sendRaw(service.url, {
    method: 'POST',
    path: '/v1/axons',
    headers: authorized,
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, error: JSON.parse(response.body) }
}

describe('a JSON body', () => {
  it.each([
    ['JSON with a charset', '{"name":"a"}', { 'content-type': 'Application/JSON; charset=utf-8' }],
    [
      'an escaped surrogate pair',
      '{"name":"\\ud83d\\ude00","metadata":{"__proto__":"x"}}',
      { 'content-type': 'application/json' },
    ],
    ['nothing', undefined, {}],
    ['nothing, with a JSON content type', undefined, { 'content-type': 'application/json' }],
    ['JSON with identity encoding', '{}', { 'content-type': 'application/json', 'content-encoding': 'identity' }],
  ])('is accepted as %s', async (_, body, headers) => {
    expect((await post(body, headers as Record<string, string>)).status).toBe(200)
  })

  it.each([
    ['JSON sent as text', '{}', { 'content-type': 'text/plain' }],
    ['JSON without a content type', '{}', {}],
    ['a type with the same prefix', '{}', { 'content-type': 'application/jsonp' }],
    ['a compressed body', '{}', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('is rejected as %s with 415', async (_, body, headers) => {
    expect(await post(body, headers as Record<string, string>)).toMatchObject({
      status: 415,
      error: { code: 'unsupported_media_type' },
    })
  })

  it.each([
    ['a truncated document', '{"name":', 'body'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'body'],
    ['half a surrogate pair', '{"name":"\\ud800"}', 'body'],
    ['half a surrogate pair in a key', '{"metadata":{"a\\uDC00":"x"}}', 'body'],
    ['a list', '[]', 'body'],
    ['very deep nesting', '['.repeat(100_000), 'body'],
    ['a name that is a number', '{"name":5}', 'name'],
    ['a metadata value that is not a string', '{"metadata":{"a":1}}', 'metadata'],
  ])('is rejected as %s with 400', async (_, body, field) => {
    const { status, error } = await post(body)
    expect({ status, field: error.field }).toEqual({ status: 400, field })
    expect(error.message).toMatch(new RegExp(`^${field}: .`))
  })

  it('may be as large as the limit', async () => {
    const envelope = '{"name":""}'
    const name = 'a'.repeat(maxBodyBytes - envelope.length)
    expect((await post(`{"name":"${name}"}`)).status).toBe(200)
    expect((await post(`{"name":"${name}a"}`)).status).toBe(413)
  })

  it('far over the limit gets a response', async () => {
    const body = Buffer.alloc(20 * maxBodyBytes, ' ')
    expect(await post(body)).toMatchObject({ status: 413, error: { code: 'payload_too_large' } })
    expect(await post(body, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })).toMatchObject({
      status: 413,
    })
  })

  it('rejected over HTTP/2 closes its stream if the client stops sending', async () => {
    const session = connect(service.url)
    const stream = session.request(
      {
        ':method': 'POST',
        ':path': '/v1/axons',
        authorization: `Bearer ${service.key}`,
        'content-type': 'application/json',
      },
      { endStream: false },
    )
    const closed = once(stream, 'close')
    stream.write(Buffer.alloc(maxBodyBytes + 1, ' '))
    const [response] = await once(stream, 'response')
    expect(response[':status']).toBe(413)
    stream.resume()
    await closed
    expect(stream.rstCode).toBe(0)
    session.destroy()
  })
})
