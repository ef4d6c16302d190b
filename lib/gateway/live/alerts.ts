import type { AlertItem } from '#lib/protocol/alerts.ts'
import type { Session } from '../accounts/types.ts'
import type { AlertBook } from '../alerts/alert-book.ts'
import { alertBookFor } from '../alerts/alert-books.ts'
import { Pushed } from './pushed.ts'
import type { Subscriber } from './subscription.ts'

/** The alerts of an account for one page, as the console keeps them. */
export class AlertFeed extends Pushed {
  readonly #book: AlertBook
  readonly leave: () => void

  constructor(session: Pick<Session, 'account' | 'api_key'>, outlet: Subscriber) {
    super(outlet)
    this.#book = alertBookFor(session)
    outlet.state('live')
    this.leave = this.#book.join(session.api_key, (item: AlertItem) => this.push(item))
  }

  protected everything() {
    return this.#book.everything()
  }
}
