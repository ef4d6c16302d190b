import type { AlertItem } from '#lib/protocol/alerts.ts'
import type { SignedIn } from '../accounts/signed-in.ts'
import type { AlertBook } from '../alerts/alert-book.ts'
import { alertBookFor } from '../alerts/alert-books.ts'
import { Pushed } from './pushed.ts'
import type { Outlet } from './subscription.ts'

/** The alerts of an account for one page, as the console keeps them. */
export class FollowedAlerts extends Pushed {
  readonly #book: AlertBook
  readonly leave: () => void

  constructor(session: Pick<SignedIn, 'account' | 'api_key'>, outlet: Outlet) {
    super(outlet)
    this.#book = alertBookFor(session)
    outlet.state('live')
    this.leave = this.#book.join(session.api_key, (item: AlertItem) => this.push(item))
  }

  protected everything() {
    return this.#book.everything()
  }
}
