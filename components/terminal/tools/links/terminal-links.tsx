import type { IBufferRange, ILink } from '@xterm/xterm'
import { useEffect, useRef, useState } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { downloadFile } from '#lib/console/api/file-download.ts'
import { lineAround, placeOf, rowPiece } from '#lib/terminal/page/lines.ts'
import { fileInDevbox, findLinks, type LinkTarget, linkTarget, otherAddress } from '#lib/terminal/page/links.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import type { OpenedTerminal } from '../../pane/opened-terminal.ts'
import { isMac } from '../../pane/platform.ts'
import { useServing } from '../../terminal-requests.tsx'
import { useDevboxPort } from '../use-devbox-port.tsx'
import { LinkList, targetsInView } from './link-list.tsx'
import { LinkQuestion, type QuestionedLink } from './link-question.tsx'
import { type HoveredLink, LinkTooltip } from './link-tooltip.tsx'

/** As many rows of a wrapped line as an address may take, above and below the one under the pointer. */
const maxRows = 24

/** Addresses, ports and files on the screen lead where they say, once they are shown and asked for. */
export const TerminalLinks = ({ opened }: { opened: OpenedTerminal }) => {
  const port = useDevboxPort(opened.devboxId)
  const [hovered, setHovered] = useState<HoveredLink>()
  const [question, setQuestion] = useState<QuestionedLink>()
  const [listed, setListed] = useState<readonly LinkTarget[]>()
  const targets = useRef(new WeakMap<ILink, LinkTarget>())
  useServing(paneOf(opened), 'links', () =>
    setListed(targetsInView(opened.terminal, (link) => targets.current.get(link))),
  )

  const open = (target: LinkTarget) => {
    if (target.kind === 'port') port.open(target.port, target.path)
    else if (target.kind === 'web') window.open(target.url.href, '_blank', 'noopener,noreferrer')
    else void download(opened.devboxId, fileInDevbox(target.path, opened.session.folder))
  }
  const follow = useRef((_target: LinkTarget, _event: MouseEvent, _text?: string) => {})
  follow.current = (target, event, text) => {
    if (!isMeant(event, opened)) return
    const named = text !== undefined && target.kind !== 'file' ? otherAddress(text, target.url) : null
    const hidesLogin = target.kind === 'web' && target.url.username !== ''
    setHovered(undefined)
    if (named || hidesLogin || !canHover()) setQuestion({ target, named })
    else open(target)
  }

  useEffect(() => {
    const { terminal, devboxId } = opened
    // A follower who came by a link may not take files.
    const canTake = ({ kind }: LinkTarget) => kind !== 'file' || devboxId !== ''
    // A finger covers what it touches; where it leads is then asked.
    const hover = (target: LinkTarget, event: MouseEvent) =>
      canHover() && setHovered({ target, x: event.clientX, y: event.clientY })
    const leave = () => setHovered(undefined)
    const provider = terminal.registerLinkProvider({
      provideLinks(y, answer) {
        const buffer = terminal.buffer.active
        const line = lineAround(buffer, y - 1, maxRows)
        const found = findLinks(line.text).filter(({ target }) => canTake(target))
        const links = found.map(({ start, end, target }): ILink => {
          const first = placeOf(buffer, line, start)
          const last = placeOf(buffer, line, end - 1)
          const link: ILink = {
            text: line.text.slice(start, end),
            range: { start: { x: first.column + 1, y: first.row + 1 }, end: { x: last.column + 1, y: last.row + 1 } },
            activate: (event) => follow.current(target, event),
            hover: (event) => hover(target, event),
            leave,
          }
          targets.current.set(link, target)
          return link
        })
        answer(links.filter(({ range }) => range.start.y <= y && y <= range.end.y))
      },
    })
    // Links with a text of their own (OSC 8). xterm asks for none but http and https.
    terminal.options.linkHandler = {
      activate(event, address, range) {
        const target = linkTarget(address)
        if (target) follow.current(target, event, textIn(opened, range))
      },
      hover(event, address) {
        const target = linkTarget(address)
        if (target) hover(target, event)
      },
      leave,
    }
    // What leads nowhere does not look like a link either.
    const dead = terminal.parser.registerOscHandler(8, (data) => {
      const address = data.slice(data.indexOf(';') + 1)
      return address !== '' && linkTarget(address) === null
    })
    return () => {
      provider.dispose()
      dead.dispose()
      terminal.options.linkHandler = { activate: () => undefined }
    }
  }, [opened])

  return (
    <>
      {port.dialog}
      {listed && (
        <LinkList
          targets={listed}
          onClose={() => setListed(undefined)}
          onOpen={(target) => {
            setListed(undefined)
            open(target)
          }}
        />
      )}
      {hovered && <LinkTooltip {...hovered} />}
      {question && (
        <LinkQuestion
          {...question}
          onAnswer={(isWanted) => {
            setQuestion(undefined)
            if (isWanted) open(question.target)
          }}
        />
      )}
    </>
  )
}

/** With the key, unless a click alone is wanted; never at the end of selecting. */
const isMeant = (event: MouseEvent, { terminal }: OpenedTerminal): boolean => {
  if (event.button !== 0) return false
  if (isMac ? event.metaKey : event.ctrlKey) return true
  return (terminalSettings.get().linkClick === 'plain' || !canHover()) && !terminal.hasSelection()
}

const canHover = () => matchMedia('(hover: hover)').matches

const textIn = ({ terminal }: OpenedTerminal, { start, end }: IBufferRange): string => {
  const pieceOf = (y: number) =>
    rowPiece(terminal.buffer.active, y - 1, y === start.y ? start.x - 1 : 0, y === end.y ? end.x : terminal.cols)
  return Array.from({ length: end.y - start.y + 1 }, (_, index) => pieceOf(start.y + index).text).join('')
}

const download = async (devboxId: string, path: string) => {
  const shown = <VisibleText max={200}>{path}</VisibleText>
  try {
    await downloadFile(devboxId, path)
    toast.ok(<>Downloaded {shown}</>)
  } catch (error) {
    toast.danger(<>Could not download {shown}</>, {
      description: error instanceof Error ? <VisibleText max={400}>{error.message}</VisibleText> : undefined,
    })
  }
}
