import type { AlertItem } from '#lib/protocol/alerts.ts'
import type { LiveError, LiveSnapshot, LiveState } from '#lib/protocol/live.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { alertBookFor } from '../alerts/alert-books.ts'
import { handleRequest, json } from '../http/handle-request.ts'
import { serviceNow, toServiceTime } from '../upstream/clock.ts'
import { sendAlerts } from './alert-topic.ts'
import { checkHealth, monitorTimes } from './service-monitor.ts'

/** `GET /api/live/now`: polled by pages that cannot open a WebSocket. */
export const liveSnapshot = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const session = await requireCaller(request, 'read')
    const [isResponding, alerts] = await Promise.all([
      // A frozen service keeps its streams open, so it needs a health check.
      checkHealth(session, monitorTimes.answerMs).then(
        () => true,
        () => false,
      ),
      currentAlerts(session),
    ])
    const since_ms = toServiceTime(alertBookFor(session).health().last_heard_ms ?? Date.now())
    const isLate = !isResponding && alerts.state === 'live'
    const topics = { 'alerts.watch': isLate ? { ...alerts, state: 'late' as const, since_ms } : alerts }
    return json({ now_ms: serviceNow(), topics } satisfies LiveSnapshot)
  })

const currentAlerts = async (holder: KeyHolder) => {
  const item = Promise.withResolvers<AlertItem>()
  const health = Promise.withResolvers<{ state: LiveState; since_ms: number; error?: LiveError }>()
  const { leave } = sendAlerts(holder, {
    data: (text) => item.resolve(JSON.parse(text)),
    room: () => undefined,
    resync: () => undefined,
    state: (state, error) => health.resolve({ state, since_ms: serviceNow(), ...(error && { error }) }),
    end: () => undefined,
  })
  const first = { ...(await health.promise), item: await item.promise }
  leave()
  return first
}
