import type { RelayData, RelayEvent, RelayUpstream } from '#lib/protocol/evictions.ts'
import type { KeyHolder } from '../accounts/types.ts'
import type { EvictionListener, EvictionWatch } from '../alerts/eviction-listener.ts'
import { evictionWatchFor } from '../alerts/eviction-watch.ts'
import { Pushed } from './pushed.ts'
import type { Subscriber } from './subscription.ts'

/** The evictions of an account for one page, from the console's one watch of them. */
export class EvictionFeed extends Pushed implements EvictionListener {
  readonly #hub: EvictionWatch

  constructor(session: KeyHolder, outlet: Subscriber) {
    super(outlet)
    this.#hub = evictionWatchFor(session)
    this.#hub.join(this)
  }

  start({ upstream }: RelayData['snapshot']): void {
    reportUpstream(this.outlet, upstream)
    this.pushAll()
  }

  tell(event: RelayEvent): void {
    if (event.event === 'upstream') reportUpstream(this.outlet, event.data)
    else if (event.event !== 'heartbeat') this.push(event)
  }

  /** The watch ends with the session or the console, and both of them close the page's socket. */
  end(): void {}

  leave(): void {
    this.#hub.leave(this)
  }

  protected everything() {
    return { event: 'snapshot', data: this.#hub.everything() }
  }
}

/** Reports the state of the account's eviction stream as the state of a followed topic. */
export const reportUpstream = (outlet: Subscriber, { state, retry_at_ms }: RelayUpstream): void => {
  if (state === 'live') outlet.state('live')
  else if (state === 'refused') outlet.state('lost', refused)
  else outlet.state('lost', { ...unreachable, ...(retry_at_ms !== undefined && { retry_at_ms }) })
}

const refused = { code: 'forbidden', status: 403, message: 'The service refuses the stream of evictions for this key' }
const unreachable = { code: 'unreachable', status: 0, message: 'The stream of evictions broke' }
