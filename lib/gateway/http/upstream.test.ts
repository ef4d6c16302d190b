import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { startConsole } from '../testing.ts'
import { clientFor } from './upstream.ts'

it('gives up a service that does not answer, or not to the end, in time', async () => {
  const service = createServer(({ url }, response) => {
    if (url?.startsWith('/v1/axons'))
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"axons":[')
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const gateway = await startConsole({ url: `http://127.0.0.1:${(service.address() as AddressInfo).port}` })
  const client = clientFor('ak_1', 50)
  await expect(client.devboxes.list()).rejects.toMatchObject({ code: 'unreachable' })
  await expect(client.axons.list()).rejects.toMatchObject({ code: 'unreachable' })
  await gateway.close()
  service.closeAllConnections()
  service.close()
})
