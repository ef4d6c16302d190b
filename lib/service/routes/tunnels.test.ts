import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import type { Tunnel } from '#lib/contract/tunnels.ts'
import { freePort } from '#lib/service/testing/free-port.ts'
import { describeInEachBox, inContainer } from '#lib/service/testing/isolation.ts'
import { sharedEngine, startService, type TestService } from '#lib/service/testing/service.ts'

/** Echoes requests. `/events` streams, `/ws` echoes frames, `/hang` never responds, `/hanging` counts those. */
const app = String.raw`
const http = require('http'), crypto = require('crypto')
let hanging = 0
const server = http.createServer((request, response) => {
  if (request.url === '/hang') return hanging++
  if (request.url === '/hanging') return response.end(String(hanging))
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let n = 0
    const clock = setInterval(() => response.write('data: ' + n++ + '\n\n'), 20)
    return response.on('close', () => clearInterval(clock))
  }
  if (request.url === '/large') {
    response.writeHead(200)
    const piece = Buffer.alloc(1 << 20, 'x')
    let left = 64
    const more = () => { while (left > 0) { left--; if (!response.write(piece)) return response.once('drain', more) } response.end() }
    return more()
  }
  const hash = crypto.createHash('sha256')
  let length = 0
  request.on('data', (chunk) => { hash.update(chunk); length += chunk.length })
  request.on('end', () => {
    response.writeHead(request.url.startsWith('/teapot') ? 418 : 200, [['X-App', 'a'], ['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2'], ['Connection', 'x-hop'], ['X-Hop', '1']])
    response.end(JSON.stringify({ me: process.env.ME, method: request.method, url: request.url, headers: request.headers, length, sha256: hash.digest('hex') }))
  })
})
server.on('upgrade', (request, socket, head) => {
  const accept = crypto.createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ' + accept + '\r\n\r\n')
  socket.on('error', () => {})
  const echo = (data) => {
    for (let at = 0; at < data.length; ) {
      const size = data[at + 1] & 127, mask = data.subarray(at + 2, at + 6)
      const payload = Buffer.from(data.subarray(at + 6, at + 6 + size)).map((byte, i) => byte ^ mask[i % 4])
      socket.write(Buffer.concat([Buffer.from([data[at], size]), payload]))
      at += 6 + size
    }
  }
  echo(head)
  socket.on('data', echo)
})
server.listen(Number(process.env.PORT), '127.0.0.1')`

describeInEachBox('a tunnel under isolation', (isolation) => {
  let service: TestService
  let servicePort: number
  beforeAll(async () => {
    service = await startService({
      isolation,
      ...(await sharedEngine(isolation, 'node')),
      allowHosts: ['api.deck.example'],
    })
    servicePort = Number(new URL(service.url).port)
  })
  afterAll(() => service.close())

  const newDevbox = async (tunnel: object | null, launch_parameters: object = {}) => {
    const port = await freePort()
    const { id } = await service.client.devboxes.createAndAwaitRunning({
      body: {
        environment_variables: { PORT: String(port), ME: `app ${port}` },
        file_mounts: { 'app.js': app },
        launch_parameters: { launch_commands: ['node app.js >/dev/null 2>&1 &'], ...launch_parameters },
        ...(tunnel ? { tunnel } : {}),
      } as never,
    })
    const devbox = await service.client.devboxes.get({ params: { id } })
    const host = (key = (devbox.tunnel as Tunnel | null)?.tunnel_key) =>
      `${port}-${key}.tunnel.localhost:${servicePort}`
    return { id, port, tunnel: devbox.tunnel as Tunnel, host }
  }

  const send = (
    host: string,
    path = '/',
    { method = 'GET', headers = {}, body }: { method?: string; headers?: OutgoingHttpHeaders; body?: Buffer } = {},
  ) =>
    new Promise<{ status: number; response: IncomingMessage; text: string }>((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: servicePort,
        method,
        path,
        headers: { host, ...headers },
        agent: false,
      }
      const outgoing = request(options, async (response) => {
        let text = ''
        try {
          for await (const chunk of response.setEncoding('utf8')) text += chunk
          resolve({ status: response.statusCode ?? 0, response, text })
        } catch (error) {
          reject(error)
        }
      })
      outgoing.once('error', reject).end(body)
    })
  const openEvents = async (host: string) => {
    const outgoing = request({ host: '127.0.0.1', port: servicePort, path: '/events', headers: { host } }).end()
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    return { outgoing, response }
  }
  const untilListening = async (host: string, headers: Record<string, string> = {}) => {
    while ((await send(host, '/', { headers })).status === 502);
  }
  const act = (id: string, operation: string, body: object = {}) =>
    service.post(`/v1/devboxes/${id}/${operation}`, body)

  describe('to an app', () => {
    let box: Awaited<ReturnType<typeof newDevbox>>
    beforeAll(async () => {
      box = await newDevbox({})
      await untilListening(box.host())
    })

    it('forwards requests and responses unchanged', async () => {
      const body = Buffer.alloc(5_000_000, 'abc')
      const { status, response, text } = await send(box.host(), '/teapot?a=%20b&c', {
        method: 'PUT',
        headers: {
          origin: 'https://page.example',
          cookie: 'a=1',
          'x-custom': 'yes',
          connection: 'close, x-secret-hop',
          'x-secret-hop': '1',
          authorization: 'Bearer of-the-app',
          'x-runloop-tunnel-authorization': 'Bearer anything',
        },
        body,
      })
      const received = JSON.parse(text)
      expect(status).toBe(418)
      expect(received).toMatchObject({ method: 'PUT', url: '/teapot?a=%20b&c', length: body.length })
      expect(received.headers).toMatchObject({
        host: box.host(),
        'x-forwarded-host': box.host(),
        'x-forwarded-proto': 'http',
        'x-forwarded-for': '127.0.0.1',
        origin: 'https://page.example',
        cookie: 'a=1',
        'x-custom': 'yes',
        authorization: 'Bearer of-the-app',
      })
      for (const name of ['x-secret-hop', 'x-runloop-tunnel-authorization'])
        expect(received.headers).not.toHaveProperty(name)
      expect(response.headers).toMatchObject({ 'x-app': 'a', 'set-cookie': ['a=1', 'b=2'] })
      expect(response.headers).not.toHaveProperty('x-hop')
    })

    it('hides keys of the service from the app', async () => {
      for (const scheme of ['Bearer', 'bearer']) {
        const { text } = await send(box.host(), '/', { headers: { authorization: `${scheme} ${service.key}` } })
        expect(JSON.parse(text).headers).not.toHaveProperty('authorization')
      }
      for (const lines of [
        ['Basic eA==', `Bearer ${service.key}`],
        [`Bearer ${service.key}, Basic eA==`, 'Basic eA=='],
      ]) {
        const { text } = await send(box.host(), '/', { headers: { authorization: lines as unknown as string } })
        expect(text).not.toContain(service.key)
        expect(JSON.parse(text).headers.authorization).toBe('Basic eA==')
      }
    })

    it('keeps Content-Length even if Connection names it', async () => {
      const headers = { connection: 'close, content-length', 'content-length': '5' }
      const { text } = await send(box.host(), '/', { headers, body: Buffer.from('hello') })
      expect(JSON.parse(text)).toMatchObject({ method: 'GET', length: 5 })
    })

    // Containers have IPv6 only if their engine does.
    it.skipIf(inContainer(isolation))('reaches IPv4 and IPv6 loopback servers', async () => {
      const port = await freePort()
      const script = `require('http').createServer((_, response) => response.end('six')).listen(${port}, '::1')`
      await act(box.id, 'execute_async', { command: `node -e "${script}"` })
      const host = box.host().replace(/^\d+/, String(port))
      await untilListening(host)
      expect((await send(host)).text).toBe('six')
    })

    it('accepts HTTP/2', async () => {
      const session = connectHttp2(service.url)
      const stream = session.request({
        ':method': 'POST',
        ':path': '/h2',
        ':authority': box.host(),
        cookie: ['a=1', 'b=2'] as unknown as string,
      })
      stream.end('x'.repeat(100_000))
      const [headers] = await once(stream, 'response')
      let text = ''
      for await (const chunk of stream.setEncoding('utf8')) text += chunk
      session.close()
      expect(headers).toMatchObject({ ':status': 200, 'x-app': 'a' })
      expect(JSON.parse(text)).toMatchObject({
        url: '/h2',
        length: 100_000,
        headers: { cookie: 'a=1; b=2', host: box.host() },
      })
    })

    it('forwards large responses and chunked bodies', async () => {
      expect((await send(box.host(), '/large')).text.length).toBe(64 << 20)
      const chunked = { method: 'DELETE', headers: { 'transfer-encoding': 'chunked' }, body: Buffer.alloc(70_000) }
      expect(JSON.parse((await send(box.host(), '/', chunked)).text)).toMatchObject({
        length: 70_000,
        method: 'DELETE',
      })
      expect((await send(box.host(), '/', { method: 'HEAD' })).status).toBe(200)
      expect(JSON.parse((await send(box.host(), '/', { method: 'POST' })).text)).toMatchObject({ length: 0 })
    })

    it('forwards events immediately', async () => {
      const { outgoing, response } = await openEvents(box.host())
      let seen = ''
      for await (const chunk of response.setEncoding('utf8')) {
        seen += chunk
        if (seen.includes('data: 2')) break
      }
      expect(seen).toContain('data: 0\n\n')
      outgoing.destroy()
    })

    it('forwards WebSockets in both directions', async () => {
      const warnings: string[] = []
      const onWarning = ({ name }: Error) => warnings.push(name)
      process.on('warning', onWarning)
      const socket = new WebSocket(`ws://127.0.0.1:${servicePort}/ws`, {
        headers: { host: box.host() },
        origin: 'https://page.example',
      })
      await once(socket, 'open')
      for (const word of ['one', 'two']) {
        socket.send(word)
        expect(String((await once(socket, 'message'))[0])).toBe(word)
      }
      socket.terminate()
      process.off('warning', onWarning)
      expect(warnings).not.toContain('MaxListenersExceededWarning')
    })

    it('works with every host name of the service', async () => {
      for (const name of ['localhost', `127.0.0.1:${servicePort}`, 'LOCALHOST:1', 'deck.example', 'deck.example:443'])
        expect((await send(`${box.port}-${box.tunnel.tunnel_key}.tunnel.${name}`)).status, name).toBe(200)
      for (const name of ['evil.example', 'localhost.evil.example', 'api.localhost.'])
        expect((await send(`${box.port}-${box.tunnel.tunnel_key}.tunnel.${name}`)).status, name).toBe(403)
    })

    it.each([
      ['an unknown key', () => `8080-${'0'.repeat(32)}`, 404],
      ['an invalid port', () => `99999-${box.tunnel.tunnel_key}`, 404],
      ['port 0', () => `0-${box.tunnel.tunnel_key}`, 404],
      ['a closed port', () => `1-${box.tunnel.tunnel_key}`, 502],
      ['the port of the service', () => `${servicePort}-${box.tunnel.tunnel_key}`, 403],
    ])('returns an error for %s', async (_, name, status) => {
      const host = `${name()}.tunnel.localhost:${servicePort}`
      const error = await send(host)
      expect(error.status).toBe(status)
      expect(JSON.parse(error.text)).toMatchObject({ message: expect.any(String) })
    })

    it('never forwards requests to the service itself', async () => {
      expect(
        (await send(box.host(), '/v1/axons', { headers: { authorization: `Bearer ${service.key}` } })).text,
      ).toContain('"me"')
    })

    it('closes its connections when removed, and can be enabled again', async () => {
      const hanging = send(box.host(), '/hang')
      await expect.poll(async () => (await send(box.host(), '/hanging')).text).toBe('1')
      const socket = new WebSocket(`ws://127.0.0.1:${servicePort}/ws`, { headers: { host: box.host() } })
      await once(socket, 'open')
      const closed = once(socket, 'close')
      expect((await act(box.id, 'enable_tunnel')).status).toBe(400)
      expect(await (await act(box.id, 'remove_tunnel')).json()).toEqual({})
      await closed
      expect((await hanging).status).toBe(502)
      expect((await send(box.host())).status).toBe(404)
      expect((await service.client.devboxes.get({ params: { id: box.id } })).tunnel ?? null).toBeNull()
      expect((await act(box.id, 'remove_tunnel')).status).toBe(200)
      const again: Tunnel = await (await act(box.id, 'enable_tunnel')).json()
      expect(again).toMatchObject({ auth_mode: 'open', http_keep_alive: true, wake_on_http: false, auth_token: null })
      expect(again.tunnel_key).not.toBe(box.tunnel.tunnel_key)
      expect((await send(box.host(again.tunnel_key))).status).toBe(200)
    })
  })

  it('requires its token if authenticated', async () => {
    const box = await newDevbox({ auth_mode: 'authenticated' })
    const token = (value: string) => ({ 'x-runloop-tunnel-authorization': value })
    await untilListening(box.host(), token(`Bearer ${box.tunnel.auth_token}`))
    const { status, text } = await send(box.host(), '/', { headers: token(`Bearer ${box.tunnel.auth_token}`) })
    expect(status).toBe(200)
    expect(text).not.toContain(box.tunnel.auth_token)
    const wrong: Record<string, string>[] = [
      {},
      token('Bearer'),
      token('Bearer wrong'),
      token(`${box.tunnel.auth_token}`),
      { authorization: `Bearer ${box.tunnel.auth_token}` },
      token(`Bearer ${service.key}`),
    ]
    for (const headers of wrong) expect((await send(box.host(), '/', { headers })).status).toBe(401)
    const socket = new WebSocket(`ws://127.0.0.1:${servicePort}/ws`, { headers: { host: box.host() } })
    expect(String(await once(socket, 'error'))).toContain('401')
  })

  it('resumes its devbox with wake_on_http, and returns 503 otherwise', async () => {
    const waking = await newDevbox({ wake_on_http: true })
    const sleeping = await newDevbox({})
    for (const { id, host } of [waking, sleeping]) {
      await untilListening(host())
      const { response } = await openEvents(host())
      const cut = new Promise((resolve) => response.once('close', resolve).once('error', () => undefined))
      response.resume()
      await act(id, 'suspend')
      await cut
      expect(response.complete).toBe(false)
      await act(id, 'wait_for_status', { statuses: ['suspended'] })
    }
    const rejected = await send(sleeping.host())
    expect(rejected.status).toBe(503)
    expect(rejected.text).toContain('suspended')
    const responses = await Promise.all([send(waking.host()), send(waking.host())])
    expect(responses.map(({ status }) => status)).toEqual([200, 200])
    expect(await service.client.devboxes.get({ params: { id: waking.id } })).toMatchObject({ status: 'running' })
    await act(waking.id, 'shutdown')
    expect((await send(waking.host())).status).toBe(404)
  })

  it('counts an open request as use of the devbox', async () => {
    const box = await newDevbox({}, { after_idle: { idle_time_seconds: 1, on_idle: 'suspend' } })
    await untilListening(box.host())
    const { outgoing, response } = await openEvents(box.host())
    let events = 0
    // Two seconds of events, twice the idle time.
    for await (const chunk of response.setEncoding('utf8')) {
      events += chunk.split('data:').length - 1
      if (events >= 100) break
    }
    expect(await service.client.devboxes.get({ params: { id: box.id } })).toMatchObject({ status: 'running' })
    outgoing.destroy()
    await service.client.devboxes.waitForStatus({ params: { id: box.id }, body: { statuses: ['suspended'] } })
  })

  it('is enabled once, for a running devbox', async () => {
    const box = await newDevbox(null)
    expect((await act('dbx_missing', 'enable_tunnel')).status).toBe(404)
    expect((await act(box.id, 'enable_tunnel', { auth_mode: 'public' })).status).toBe(400)
    const created = await Promise.all(Array.from({ length: 5 }, () => act(box.id, 'enable_tunnel')))
    expect(created.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    await act(box.id, 'shutdown')
    expect((await act(box.id, 'enable_tunnel')).status).toBe(400)
    expect((await act(box.id, 'remove_tunnel')).status).toBe(200)
  })
})

describe('the terminal tunnel', () => {
  it('reaches only terminals', async () => {
    const service = await startService({ isolation: 'none' })
    const { id } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
    const { tunnel_key, auth_token } = await service.client.devboxes.createPtyTunnel({ params: { id } })
    const port = Number(new URL(service.url).port)
    const get = (host: string, path: string, headers: Record<string, string> = {}) =>
      new Promise<number | undefined>((resolve, reject) => {
        request({ host: '127.0.0.1', port, path, headers: { host, ...headers }, agent: false }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
          .once('error', reject)
          .end()
      })
    const host = `13-${tunnel_key}.tunnel.localhost:${port}`
    const authorization = `Bearer ${auth_token}`
    expect(await get(host, '/pty/main', { authorization })).toBe(200)
    expect(await get(host, '/pty/main', { 'x-runloop-tunnel-authorization': authorization })).toBe(200)
    expect(await get(host, '/pty/main')).toBe(401)
    expect(await get(host, '/pty/main', { authorization, origin: 'https://evil.example' })).toBe(403)
    expect(await get(host, '/v1/axons', { authorization: `Bearer ${service.key}` })).toBe(403)
    expect(await get(host.replace('13-', '14-'), '/pty/main', { authorization })).toBe(403)
    expect(await get(host.replace('localhost', 'evil.example'), '/pty/main', { authorization })).toBe(403)
    const socket = new WebSocket(`ws://127.0.0.1:${port}/pty/main/attach`, [auth_token], { headers: { host } })
    await once(socket, 'open')
    expect(socket.protocol).toBe(auth_token)
    socket.terminate()
    await service.close()
  })
})
