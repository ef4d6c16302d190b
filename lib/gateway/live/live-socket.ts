import { liveClose } from '#lib/protocol/live.ts'
import { trackStream } from '../accounts/open-streams.ts'
import { requireSignedIn } from '../accounts/session-cookie.ts'
import type { SocketRoute } from '../http/upgrades.ts'
import { acquireSlot, concurrencyError } from '../limits/concurrency-limit.ts'
import { LivePage } from './live-page.ts'
import { ServiceMonitor } from './service-monitor.ts'

/** Of one session: far more tabs than anyone has open, and few enough for the service. */
const maxPages = 1_100

/** `/api/live`: the one connection of a page for all that is live but terminals. */
export const liveSocket = (pulse = new ServiceMonitor()): SocketRoute => {
  const pages = new Map<string, number>()
  return {
    path: /^\/api\/live$/,
    admit: async ({ header }) => {
      const session = await requireSignedIn(header)
      const { sid } = session
      return (socket) => {
        const count = pages.get(sid) ?? 0
        // The refusal is sent over the open socket, because no browser tells a page why it got none.
        if (count >= maxPages) return socket.close(liveClose.tooMany, `${maxPages} pages are open already; close some`)
        const countOut = acquireSlot(session.account.id, 'pages')
        if (!countOut) return socket.close(liveClose.tooMany, concurrencyError('pages').message)
        const page = new LivePage(socket, session, pulse)
        const forget = trackStream(session, page)
        pages.set(sid, count + 1)
        socket.on('close', () => {
          page.leave()
          forget()
          countOut()
          const left = (pages.get(sid) ?? 1) - 1
          if (left > 0) pages.set(sid, left)
          else pages.delete(sid)
        })
      }
    },
  }
}
