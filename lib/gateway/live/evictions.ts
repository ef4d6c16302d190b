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
    this.#tellUpstream(upstream)
    this.pushAll()
  }

  tell(event: RelayEvent): void {
    if (event.event === 'upstream') this.#tellUpstream(event.data)
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

  #tellUpstream({ state, retry_at_ms }: RelayUpstream): void {
    if (state === 'live') this.outlet.state('live')
    else if (state === 'refused') this.outlet.state('lost', refused)
    else this.outlet.state('lost', { ...unreachable, ...(retry_at_ms !== undefined && { retry_at_ms }) })
  }
}

const refused = { code: 'forbidden', status: 403, message: 'The service refuses the stream of evictions for this key' }
const unreachable = { code: 'unreachable', status: 0, message: 'The stream of evictions broke' }
