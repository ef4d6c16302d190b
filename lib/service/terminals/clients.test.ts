import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { createClient } from '#lib/client/client.ts'
import { databaseName } from '#lib/service/store/data-dir.ts'
import { openDatabase } from '#lib/service/store/database.ts'
import { createKeyStore } from '#lib/service/store/keys.ts'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { attach, openTerminal } from '#lib/service/testing/terminals.ts'

describe('terminal clients', () => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation: strongestIsolation })
    id = await service.devbox()
  })
  afterAll(() => service.close())

  const urlOf = async (session_name: string) =>
    (await service.client.terminals.connect({ params: { session_name } })).connect_url ?? ''

  /** A proxy to the service that can drop traffic silently. */
  const startNetwork = async () => {
    const { hostname, port } = new URL(service.url)
    const sockets: Socket[] = []
    const server = createServer((near) => {
      const far = connect(Number(port), hostname)
      sockets.push(near, far)
      for (const each of [near, far]) each.on('error', () => undefined)
      near.pipe(far).pipe(near)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port: own } = server.address() as { port: number }
    return {
      port: own,
      cut: () => {
        for (const each of sockets) each.unpipe().pause()
      },
      close: () => {
        for (const each of sockets) each.destroy()
        server.close()
      },
    }
  }

  const attachThrough = async ({ port }: { port: number }, name: string) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${await urlOf(name)}`, {
      headers: { host: new URL(service.url).host },
    })
    socket.on('error', () => undefined)
    await once(socket, 'open')
    return socket
  }

  it('are replaced after a silent connection loss', async () => {
    const name = `${id}-cut`
    const network = await startNetwork()
    await attachThrough(network, name)
    network.cut()
    const second = await openTerminal(service, name)
    second.type('echo he"re"\r')
    await second.shows(/\rhere\r\n/)
    second.socket.close()
    network.close()
  })

  it('keep their place while responsive, even with unread input pending', async () => {
    const { name, socket, type, shows } = await openTerminal(service, `${id}-there`)
    expect(await attach(service, await urlOf(name)).refused).toBe(409)
    type('stty raw -echo; echo rea""dy; sleep 1000\r')
    await shows(/ready/)
    for (let sent = 0; sent < 4; sent++) type(Buffer.alloc(500_000, 'x'))
    expect(await attach(service, await urlOf(name)).refused).toBe(409)
    expect(socket.readyState).toBe(WebSocket.OPEN)
    await service.client.terminals.control({ params: { session_name: name }, body: { action: 'close' } })
  })

  it('are disconnected when their API key is revoked', async () => {
    const database = openDatabase(join(service.dataDir, databaseName))
    const keys = createKeyStore(database)
    const { id: keyId, key } = keys.add({ account: 'test', name: null, nowMs: Date.now() })
    const client = createClient({ baseUrl: service.url, headers: { authorization: `Bearer ${key}` } })
    const byTicket = await client.terminals.connect({ params: { session_name: `${id}-ticket` } })
    const { auth_token } = await client.devboxes.createPtyTunnel({ params: { id } })
    const headers = { authorization: `Bearer ${auth_token}` }
    const byToken = (await (await service.fetch('/pty/token', { headers })).json()) as { connect_url: string }
    const unused = await client.terminals.connect({ params: { session_name: `${id}-unused` } })
    const clients = [
      attach(service, byTicket.connect_url ?? ''),
      attach(service, byToken.connect_url, [auth_token]),
      attach(service, `/pty/by-protocol/attach`, [auth_token]),
    ]
    const other = await openTerminal(service, `${id}-other`)
    await Promise.all(clients.map(({ opened }) => opened))
    keys.revoke(keyId, Date.now())
    database.close()
    for (const { closed } of clients) expect(await closed).toEqual({ code: 1008, reason: 'The key was revoked' })
    expect((await service.fetch('/pty/token', { headers })).status).toBe(401)
    expect(await attach(service, unused.connect_url ?? '').refused).toBe(401)
    other.type('echo st"ill"\r')
    await other.shows(/\rstill\r\n/)
    other.socket.close()
  })
})
