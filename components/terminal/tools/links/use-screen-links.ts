import type { IBufferRange, ILink, Terminal } from '@xterm/xterm'
import { useEffect, useEffectEvent, useRef } from 'react'
import { lineAround, placeOf, rowPiece } from '#lib/terminal/page/lines.ts'
import { findLinks, type LinkTarget, linkTarget } from '#lib/terminal/page/links.ts'
import type { OpenedTerminal } from '../../pane/opened-terminal.ts'

/** Rows of a wrapped line to search for links, above and below the pointer. */
const maxRows = 24

interface LinkEvents {
  /** `text` is the link text, if it differs from the target. */
  onFollow: (target: LinkTarget, event: MouseEvent, text?: string) => void
  onHover: (target: LinkTarget, event: MouseEvent) => void
  onLeave: () => void
}

/** Registers link providers. Returns a function that resolves a link's target. */
export const useScreenLinks = (
  { terminal, devboxId }: OpenedTerminal,
  { onFollow, onHover, onLeave }: LinkEvents,
): ((link: ILink) => LinkTarget | undefined) => {
  const targets = useRef(new WeakMap<ILink, LinkTarget>())
  const follow = useEffectEvent(onFollow)
  const hover = useEffectEvent(onHover)
  const leave = useEffectEvent(onLeave)

  useEffect(() => {
    const provider = terminal.registerLinkProvider({
      provideLinks(y, answer) {
        // Visitors with a read-only link can't download files.
        const links = linksAround(terminal, y).filter(({ target }) => target.kind !== 'file' || devboxId !== '')
        answer(
          links.map(({ text, range, target }) => {
            const link: ILink = {
              text,
              range,
              activate: (event) => follow(target, event),
              hover: (event) => hover(target, event),
              leave: () => leave(),
            }
            targets.current.set(link, target)
            return link
          }),
        )
      },
    })
    // OSC 8 links. xterm only passes http and https.
    terminal.options.linkHandler = {
      activate(event, address, range) {
        const target = linkTarget(address)
        if (target) follow(target, event, textIn(terminal, range))
      },
      hover(event, address) {
        const target = linkTarget(address)
        if (target) hover(target, event)
      },
      leave: () => leave(),
    }
    // Drops links without a usable target.
    const dead = terminal.parser.registerOscHandler(8, (data) => {
      const address = data.slice(data.indexOf(';') + 1)
      return address !== '' && linkTarget(address) === null
    })
    return () => {
      provider.dispose()
      dead.dispose()
      terminal.options.linkHandler = { activate: () => undefined }
    }
  }, [terminal, devboxId])
  return (link) => targets.current.get(link)
}

/** Links in buffer row `y` (one-based). */
const linksAround = (terminal: Terminal, y: number) => {
  const buffer = terminal.buffer.active
  const line = lineAround(buffer, y - 1, maxRows)
  return findLinks(line.text)
    .map(({ start, end, target }) => {
      const first = placeOf(buffer, line, start)
      const last = placeOf(buffer, line, end - 1)
      const range: IBufferRange = {
        start: { x: first.column + 1, y: first.row + 1 },
        end: { x: last.column + 1, y: last.row + 1 },
      }
      return { text: line.text.slice(start, end), range, target }
    })
    .filter(({ range }) => range.start.y <= y && y <= range.end.y)
}

const textIn = (terminal: Terminal, { start, end }: IBufferRange): string => {
  const pieceOf = (y: number) =>
    rowPiece(terminal.buffer.active, y - 1, y === start.y ? start.x - 1 : 0, y === end.y ? end.x : terminal.cols)
  return Array.from({ length: end.y - start.y + 1 }, (_, index) => pieceOf(start.y + index).text).join('')
}
