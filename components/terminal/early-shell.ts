import { type EarlySocket, openEarly } from '#lib/console/early-socket.ts'
import { pageIdentity } from '#lib/console/frame/page-identity.ts'
import { parseLayout } from '#lib/terminal/layout/layout.ts'
import { openingUrl, type TerminalTarget, terminalUrl } from '#lib/terminal/page/address.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import { expectedRoom, type Room } from './remembered-room.ts'

/** A shell on its way to a terminal that is not drawn yet. */
export interface EarlyShell {
  /** The socket it comes by, if there is one by now and it was opened for this terminal in this size. */
  take(target: TerminalTarget, size: Room): EarlySocket | undefined
  /** Gives up what was not taken. */
  leave(): void
}

/**
 * A shell takes as long as the page with its screen: it is asked for at once, where the address tells which it is, and
 * where its size can be guessed.
 */
export const askForShell = (): EarlyShell => {
  const target = targetOf(location)
  const room = expectedRoom()
  let socket: EarlySocket | undefined
  let isOver = false
  if (target && room)
    void pageIdentity().then((client) => {
      if (isOver) return
      const { scrollback } = terminalSettings.get()
      const { cols, rows } = room
      socket = openEarly(openingUrl(terminalUrl(target), { cols, rows, client, scrollback }))
    })
  return {
    take({ devboxId, name }, { cols, rows }) {
      isOver = true
      const isIt = devboxId === target?.devboxId && name === target.name && cols === room?.cols && rows === room.rows
      const taken = isIt ? socket : undefined
      if (taken) socket = undefined
      return taken
    },
    leave() {
      isOver = true
      socket?.socket.close()
    },
  }
}

/** The only terminal the page with this address shows. */
const targetOf = ({ pathname, search }: Location): TerminalTarget | undefined => {
  const [, devboxId] = /^\/devboxes\/([\w-]+)$/.exec(pathname) ?? []
  const { layout } = parseLayout(new URLSearchParams(search).get('t'))
  const { tree } = layout.tabs[layout.active] ?? {}
  return devboxId && typeof tree === 'string' ? { devboxId, name: tree } : undefined
}
