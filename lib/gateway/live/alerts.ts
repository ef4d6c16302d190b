import type { SignedIn } from '../accounts/signed-in.ts'
import { alertBookFor } from '../alerts/alerts.ts'
import { pushed } from './pushed.ts'
import type { Outlet } from './subscription.ts'

/** The alerts of an account, as the console keeps them. */
export const followAlerts = (session: Pick<SignedIn, 'account' | 'api_key'>, outlet: Outlet, signal: AbortSignal) => {
  const book = alertBookFor(session)
  const page = pushed(outlet, signal, () => book.everything())
  outlet.state('live')
  signal.addEventListener('abort', book.join(page.tell), { once: true })
}
