import type { LiveEndpoint, LiveError, LiveItems, LiveSnapshot, LiveState } from '#lib/protocol/live.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import { evictionWatchFor } from '../alerts/eviction-watch.ts'
import { handleRequest, json } from '../http/handle-request.ts'
import { serviceNow, toServiceTime } from '../upstream/clock.ts'
import { followAlerts, followEvictions } from './feeds.ts'
import { checkHealth, monitorTimes } from './service-monitor.ts'
import type { Subscriber } from './subscription.ts'

/** `GET /api/live/now`: polled by pages that cannot open a WebSocket. */
export const liveSnapshot = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const session = await requireCaller(request, 'read')
    const [isHeard, evictions, alerts] = await Promise.all([
      // A frozen service keeps its streams open, so it needs a health check.
      checkHealth(monitorTimes.answerMs).then(
        () => true,
        () => false,
      ),
      firstWord<'evictions.watch'>((outlet) => followEvictions(session, outlet)),
      firstWord<'alerts.watch'>((outlet) => followAlerts(session, outlet)),
    ])
    const late = {
      state: 'late',
      since_ms: toServiceTime(evictionWatchFor(session).lastHeardMs ?? Date.now()),
    } as const
    const told = <Topic extends { state: LiveState }>(topic: Topic) =>
      isHeard || topic.state !== 'live' ? topic : { ...topic, ...late }
    const topics = { 'evictions.watch': told(evictions), 'alerts.watch': told(alerts) }
    return json({ now_ms: serviceNow(), topics } satisfies LiveSnapshot)
  })

/** The first item of a topic, and the state of its source. */
const firstWord = async <E extends LiveEndpoint>(open: (outlet: Subscriber) => { leave(): void }) => {
  const item = Promise.withResolvers<LiveItems[E]>()
  const health = Promise.withResolvers<{ state: LiveState; since_ms: number; error?: LiveError }>()
  const source = open({
    data: (text) => item.resolve(JSON.parse(text)),
    room: () => undefined,
    resync: () => undefined,
    state: (state, error) => health.resolve({ state, since_ms: serviceNow(), ...(error && { error }) }),
    end: () => undefined,
  })
  const first = { ...(await health.promise), item: await item.promise }
  source.leave()
  return first
}
