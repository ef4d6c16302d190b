import diagnostics from 'node:diagnostics_channel'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { documentedMetrics } from '#lib/metrics/documented-metrics.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { logError, logInfo } from './log.ts'
import { startMetrics } from './metrics.ts'

let service: Awaited<ReturnType<typeof startServer>>
let testConsole: TestConsole
let status = 401

const start = async (overrides: Parameters<typeof startConsole>[1] = {}) => {
  service = await startServer((_, response) => response.writeHead(status).end('{}'))
  testConsole = await startConsole(service, { metrics: { host: '127.0.0.1', port: 0 }, ...overrides })
}

afterEach(async () => {
  status = 401
  vi.restoreAllMocks()
  await testConsole.close()
  service.close()
})

describe('metrics of the console', () => {
  it('count requests, requests to the service and what is open', async () => {
    await start()
    const metrics = await startMetrics()
    const read = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${metrics?.server.port}${path}`)
      return { status: response.status, text: await response.text() }
    }
    try {
      metrics?.observe({
        method: 'GET',
        path: '/api/v1/axons',
        area: 'api/v1',
        status: 200,
        durationMs: 30,
        isComplete: true,
        requestId: 'abc',
      })
      await testConsole.signIn('ak_wrong_key_of_a_test').catch(() => undefined)
      const { text } = await read('/metrics')
      expect(text).toContain('devdeck_console_http_request_duration_seconds_count{operation="api/v1",status="200"} 1')
      expect(text).toMatch(/devdeck_console_upstream_duration_seconds_count\{method="GET",status="401"\} [1-9]/)
      expect(text).toContain('devdeck_console_terminals 0')
      expect(text).toContain('devdeck_console_alert_messages_waiting 0')
      expect(text).toContain('process_resident_memory_bytes')
      for (const name of documentedMetrics('console')) expect(text).toContain(`# TYPE ${name} `)
      expect((await read('/healthz')).status).toBe(200)
      expect((await read('/elsewhere')).status).toBe(404)

      expect(await read('/readyz')).toEqual({
        status: 200,
        text: '{"status":"ready","data_folder":"ok","alerts":"ok","service":"ok"}',
      })
      status = 503
      expect(await read('/readyz')).toMatchObject({
        status: 503,
        text: expect.stringContaining('"service":"the service returned 503"'),
      })
      service.close()
      expect(await read('/readyz')).toMatchObject({ status: 503, text: expect.stringContaining('ECONNREFUSED') })
    } finally {
      await metrics?.server.close()
    }
    // Requests after the console has stopped are not its own.
    expect(diagnostics.channel('undici:request:create').hasSubscribers).toBe(false)
  })
})

describe('the log', () => {
  it('is JSON with time, level and fields if chosen', async () => {
    await start({ logFormat: 'json' })
    const lines: string[] = []
    vi.spyOn(console, 'log').mockImplementation((line) => lines.push(line))
    vi.spyOn(console, 'error').mockImplementation((line) => lines.push(line))
    logInfo('Started', { port: 1 })
    logError('Request failed', new Error('boom'), { request_id: 'abc' })
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { time: expect.any(String), level: 'info', message: 'Started', port: 1 },
      {
        time: expect.any(String),
        level: 'error',
        message: 'Request failed',
        request_id: 'abc',
        error: expect.stringMatching(/^Error: boom\n/),
      },
    ])
  })
})
