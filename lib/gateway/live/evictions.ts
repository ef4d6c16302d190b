import type { RelayUpstream } from '#lib/wire/evictions.ts'
import { evictionHubFor } from '../evictions/hub.ts'
import type { Outlet } from './subscription.ts'

/** The evictions of an account, from the console's one watch of them. A page that has not taken in what was told gets a snapshot next. */
export const followEvictions = (apiKey: string, outlet: Outlet, signal: AbortSignal): void => {
  const hub = evictionHubFor(apiKey)
  let isBehind = false
  const snapshot = () => outlet.data(JSON.stringify({ event: 'snapshot', data: hub.everything() }), '')
  const upstream = ({ state }: RelayUpstream) =>
    state === 'live' ? outlet.state('live') : outlet.state('lost', state === 'refused' ? refused : unreachable)
  const catchUp = (room: Promise<void>) => {
    isBehind = true
    void room.then(() => {
      isBehind = false
      if (signal.aborted) return
      outlet.resync('')
      snapshot()
    })
  }
  const leave = hub.join({
    start: (everything) => {
      upstream(everything.upstream)
      snapshot()
    },
    tell: (event) => {
      if (event.event === 'upstream') return upstream(event.data)
      if (event.event === 'heartbeat' || isBehind) return
      const room = outlet.room(signal)
      if (room) catchUp(room)
      else outlet.data(JSON.stringify(event), '')
    },
    end: () => undefined,
  })
  signal.addEventListener('abort', leave, { once: true })
}

const refused = { code: 'forbidden', status: 403, message: 'The service refuses the stream of evictions for this key' }
const unreachable = { code: 'unreachable', status: 0, message: 'The stream of evictions broke' }
