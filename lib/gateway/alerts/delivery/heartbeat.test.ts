import { afterEach, expect, it, vi } from 'vitest'
import { startServer } from '../../testing.ts'
import { deliveryTimes } from './channel.ts'
import { signatureOf } from './formats.ts'
import { Heartbeat } from './heartbeat.ts'

const soon = { timeout: 30_000, interval: 10 }
let cleanup: () => void
afterEach(() => cleanup())

it('is sent while the console sees alerts, and not during an outage', async () => {
  const signatures: boolean[] = []
  let status = 200
  let sees = true
  let checks = 0
  const server = await startServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    expect(JSON.parse(body)).toMatchObject({ event: 'heartbeat', account: { id: 'acc' } })
    const signature = String(request.headers['devdeck-signature'])
    signatures.push(signature === signatureOf(body, 'secret', Number(/t=(\d+)/.exec(signature)?.[1])))
    response.writeHead(status).end()
  })
  const onChange = vi.fn()
  const heartbeat = new Heartbeat(
    {
      id: 'rcv',
      name: 'Watchdog',
      format: 'heartbeat',
      host: new URL(server.url).host,
      source: 'page',
      filter: { kinds: null, min_severity: 'info', metadata: {} },
      every_seconds: 30,
      has_secret: true,
      is_paused: false,
      isPrivateAllowed: true,
      target: async () => ({ url: server.url, secret: 'secret' }),
    },
    {
      account: { id: 'acc', name: 'Ada' },
      times: { ...deliveryTimes, heartbeatMs: 20 },
      sees: () => {
        checks += 1
        return sees
      },
      onChange,
    },
  )
  cleanup = () => {
    heartbeat.close()
    server.close()
  }
  const beats = (count: number) => vi.waitFor(() => expect(signatures.length).toBeGreaterThanOrEqual(count), soon)
  await beats(3)
  expect(signatures).not.toContain(false)

  sees = false
  await vi.waitFor(() => expect(heartbeat.state().next_try_ms).toBeNull(), soon)
  const before = signatures.length
  const checked = checks
  await vi.waitFor(() => expect(checks).toBeGreaterThan(checked + 3), soon)
  expect(signatures).toHaveLength(before)

  sees = true
  status = 500
  await vi.waitFor(() => expect(heartbeat.state().failure).toMatchObject({ answer: 'HTTP 500' }), soon)
  status = 200
  await vi.waitFor(() => expect(heartbeat.state().failure).toBeNull(), soon)
  expect(onChange).toHaveBeenCalledTimes(2)
})
