import type { RelayData, RelayEvent } from '#lib/protocol/evictions.ts'
import type { KeyHolder } from '../accounts/types.ts'
import type { AlertBook } from '../alerts/alert-book.ts'
import { alertBookFor } from '../alerts/alert-books.ts'
import type { EvictionListener, EvictionWatch } from '../alerts/eviction-listener.ts'
import { evictionWatchFor } from '../alerts/eviction-watch.ts'
import { reportUpstream } from './evictions.ts'
import { Pushed } from './pushed.ts'
import type { Subscriber } from './subscription.ts'

/** An account's alerts for one page. Its state is that of the eviction stream they come from. */
export class AlertFeed extends Pushed implements EvictionListener {
  readonly #book: AlertBook
  readonly #hub: EvictionWatch
  readonly #leaveBook: () => void

  constructor(session: KeyHolder, outlet: Subscriber) {
    super(outlet)
    this.#book = alertBookFor(session)
    this.#hub = evictionWatchFor(session)
    this.#leaveBook = this.#book.join(session.api_key, (item) => this.push(item))
    this.#hub.join(this)
  }

  start({ upstream }: RelayData['snapshot']): void {
    reportUpstream(this.outlet, upstream)
  }

  tell(event: RelayEvent): void {
    if (event.event === 'upstream') reportUpstream(this.outlet, event.data)
  }

  /** The watch ends with the session or the console, and both of them close the page's socket. */
  end(): void {}

  leave(): void {
    this.#hub.leave(this)
    this.#leaveBook()
  }

  protected everything() {
    return this.#book.everything()
  }
}
