import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { LiveRequest } from '#lib/protocol/live.ts'
import { alertQueries, followAlerts } from './queries.ts'

/** Sends an empty snapshot, then nothing. */
class PageSocket {
  readyState = 1
  onopen: () => void = () => undefined
  onmessage: (message: { data: string }) => void = () => undefined
  constructor() {
    queueMicrotask(() => this.onopen())
  }
  send(text: string) {
    const request = JSON.parse(text) as LiveRequest
    if (request.t !== 'subscribe') return
    const data = { alerts: [], silences: [], followed_jobs: [], webhook: null }
    const items = [{ event: 'snapshot', data }]
    this.onmessage({ data: JSON.stringify({ t: 'data', id: request.id, position: '', items }) })
  }
  close() {}
}

beforeAll(() => {
  vi.stubGlobal('window', { addEventListener: () => undefined })
  vi.stubGlobal('document', { addEventListener: () => undefined })
  vi.stubGlobal('location', { origin: 'http://console' })
  vi.stubGlobal('WebSocket', PageSocket)
})
afterAll(() => void vi.unstubAllGlobals())

it('refetches the history after a break, in which alerts may have been raised and closed', async () => {
  const client = new QueryClient()
  const { queryKey } = alertQueries.ofDevbox('dbx_1')
  client.setQueryData(queryKey, [])
  const leave = followAlerts(client)
  await vi.waitFor(() => expect(client.getQueryState(queryKey)).toMatchObject({ isInvalidated: true }))
  leave()
})
