import type { LiveEndpoint, LiveError, LiveItems, LiveNow, LiveState } from '#lib/protocol/live.ts'
import { callerOf } from '../accounts/session-cookie.ts'
import { evictionHubFor } from '../evictions/hub.ts'
import { answering, json } from '../http/answer.ts'
import { byServiceClock, serviceNow } from '../http/service-clock.ts'
import { FollowedAlerts } from './alerts.ts'
import { FollowedEvictions } from './evictions.ts'
import { askForSign, pulseTimes } from './service-pulse.ts'
import type { Outlet } from './subscription.ts'

/** `GET /api/live/now`: asked again and again by a page that no WebSocket reaches. What it joins lingers until then. */
export const liveNow = (request: Request): Promise<Response> =>
  answering(request, async () => {
    const session = await callerOf(request, 'read')
    const [isHeard, evictions, alerts] = await Promise.all([
      // A service that is frozen keeps its streams.
      askForSign(pulseTimes.answerMs).then(
        () => true,
        () => false,
      ),
      firstWord<'evictions.watch'>((outlet) => new FollowedEvictions(session, outlet)),
      firstWord<'alerts.watch'>((outlet) => new FollowedAlerts(session, outlet)),
    ])
    const late = { state: 'late', since_ms: byServiceClock(evictionHubFor(session).lastHeardMs ?? Date.now()) } as const
    const told = <Topic extends { state: LiveState }>(topic: Topic) =>
      isHeard || topic.state !== 'live' ? topic : { ...topic, ...late }
    const topics = { 'evictions.watch': told(evictions), 'alerts.watch': told(alerts) }
    return json({ now_ms: serviceNow(), topics } satisfies LiveNow)
  })

/** What a page hears first of a topic. */
const firstWord = async <E extends LiveEndpoint>(open: (outlet: Outlet) => { leave(): void }) => {
  const { promise, resolve } = Promise.withResolvers<LiveItems[E]>()
  let told: { state: LiveState; since_ms: number; error?: LiveError } = { state: 'live', since_ms: serviceNow() }
  const source = open({
    data: (text) => resolve(JSON.parse(text)),
    room: () => undefined,
    resync: () => undefined,
    state: (state, error) => {
      told = { state, since_ms: serviceNow(), ...(error && { error }) }
    },
    end: () => undefined,
  })
  const item = await promise
  source.leave()
  return { ...told, item }
}
