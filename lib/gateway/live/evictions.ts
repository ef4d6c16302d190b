import type { RelayUpstream } from '#lib/wire/evictions.ts'
import { evictionHubFor } from '../evictions/hub.ts'
import { pushed } from './pushed.ts'
import type { Outlet } from './subscription.ts'

/** The evictions of an account, from the console's one watch of them, until the returned function is called. */
export const followEvictions = (apiKey: string, outlet: Outlet): (() => void) => {
  const hub = evictionHubFor(apiKey)
  const page = pushed(outlet, () => ({ event: 'snapshot', data: hub.everything() }))
  const upstream = ({ state }: RelayUpstream) =>
    state === 'live' ? outlet.state('live') : outlet.state('lost', state === 'refused' ? refused : unreachable)
  return hub.join({
    start: (everything) => {
      upstream(everything.upstream)
      page.tellAll()
    },
    tell: (event) => {
      if (event.event === 'upstream') return upstream(event.data)
      if (event.event !== 'heartbeat') page.tell(event)
    },
    end: () => undefined,
  })
}

const refused = { code: 'forbidden', status: 403, message: 'The service refuses the stream of evictions for this key' }
const unreachable = { code: 'unreachable', status: 0, message: 'The stream of evictions broke' }
