import { liveClose } from '#lib/protocol/live.ts'
import { trackStream } from '../accounts/open-streams.ts'
import { requireSignedIn } from '../accounts/session-cookie.ts'
import type { SocketRoute } from '../http/upgrades.ts'
import { acquireSlot, concurrencyError } from '../limits/concurrency-limit.ts'
import { LivePage } from './live-page.ts'
import { ServiceMonitor } from './service-monitor.ts'

/** Per session: more tabs than anyone has open. */
const maxPages = 1_100

/** `/api/live`: a page's one connection for everything live except terminals. */
export const liveSocket = (monitor = new ServiceMonitor()): SocketRoute => {
  const pages = new Map<string, number>()
  return {
    path: /^\/api\/live$/,
    admit: async ({ header }) => {
      const session = await requireSignedIn(header)
      const { sid } = session
      return (socket) => {
        const count = pages.get(sid) ?? 0
        // Sent over the open socket, since browsers hide the reason of a failed upgrade.
        if (count >= maxPages) return socket.close(liveClose.tooMany, `${maxPages} pages are open already; close some`)
        const releaseSlot = acquireSlot(session.account.id, 'pages')
        if (!releaseSlot) return socket.close(liveClose.tooMany, concurrencyError('pages').message)
        const page = new LivePage(socket, session, monitor)
        const forget = trackStream(session, page)
        pages.set(sid, count + 1)
        socket.on('close', () => {
          page.leave()
          forget()
          releaseSlot()
          const left = (pages.get(sid) ?? 1) - 1
          if (left > 0) pages.set(sid, left)
          else pages.delete(sid)
        })
      }
    },
  }
}
