import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { emptyAlertFeed } from '#lib/browser/alerts/alert-feed.ts'
import { alertQueries } from '#lib/browser/queries/alerts.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { AlertBadge, AlertBar } from './alert-bar.tsx'
import { PendingAlerts } from './pending-alerts.tsx'

const alert = alertOf({ devbox_name: 'worker', deadline_ms: 1_700_000_000_000 })

beforeEach(() => void vi.useFakeTimers({ now: alert.deadline_ms, toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const nothing = () => undefined
const textOf = (inMs: number, change: Partial<Alert> = {}, shown = <AlertBar onCollapse={nothing} />) => {
  const client = new QueryClient()
  const open = [{ ...alert, ...change, deadline_ms: alert.deadline_ms + inMs }]
  client.setQueryData(alertQueries.feed().queryKey, { ...emptyAlertFeed, open })
  const bar = renderToStaticMarkup(<QueryClientProvider client={client}>{shown}</QueryClientProvider>)
  return bar.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
}

it('says of no deadline that it is now while the service does not tell what came of it', () => {
  expect(textOf(91_000)).toContain('worker is evicted in 01:31')
  expect(textOf(-500)).toContain('worker is evicted now')
  expect(textOf(-3_600_000)).toContain('worker was to be evicted 1 h ago')
  expect(textOf(-3_600_000, { kind: 'end' })).toContain('worker was to be deleted 1 h ago')
})

it('counts down to no deadline that has passed while the bar is collapsed', () => {
  const badge = <AlertBadge onExpand={nothing} />
  expect(textOf(91_000, {}, badge)).toContain('1 alert, in 01:31')
  expect(textOf(-500, {}, badge)).not.toContain('00:00')
})

it('calls an alert due in the list of pending alerts once its deadline has passed', () => {
  const list = <PendingAlerts shownId={undefined} isLocal={false} onSilence={nothing} />
  expect(textOf(91_000, {}, list)).toContain('01:31')
  for (const inMs of [0, -500, -30_000]) {
    expect(textOf(inMs, {}, list)).toContain('Due')
    expect(textOf(inMs, {}, list)).not.toMatch(/00:00|30 s ago/)
  }
})
