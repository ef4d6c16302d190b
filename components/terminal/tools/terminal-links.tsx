import type { IBufferRange, ILink, Terminal } from '@xterm/xterm'
import { ExternalLink, FileText, type LucideIcon, Plug } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Dialog } from '#components/ui/dialog.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { lineAround, placeOf, rowPiece } from '#lib/terminal/page/lines.ts'
import {
  addressParts,
  fileInDevbox,
  findLinks,
  type LinkTarget,
  linkTarget,
  otherAddress,
} from '#lib/terminal/page/links.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import { isMac, linkKey } from '#lib/terminal/page/shortcuts.ts'
import { linkProvidersOf } from '#lib/terminal/xterm/internals.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { useServing } from '../terminal-requests.tsx'
import { useDevboxPort } from './devbox-port.tsx'

const kinds: Record<LinkTarget['kind'], { icon: LucideIcon; label: string; effect: string }> = {
  web: { icon: ExternalLink, label: 'Open in a new tab', effect: 'to open in a new tab' },
  port: { icon: Plug, label: 'Open port', effect: 'to open this devbox port' },
  file: { icon: FileText, label: 'Open in Files', effect: 'to open it in Files' },
}

export const TerminalLinks = ({ opened }: { opened: OpenedTerminal }) => {
  const router = useRouter()
  const port = useDevboxPort(opened.devboxId)
  const [hovered, setHovered] = useState<HoveredLink>()
  const [question, setQuestion] = useState<QuestionedLink>()
  const [listed, setListed] = useState<readonly LinkTarget[]>()

  const open = (target: LinkTarget) => {
    if (target.kind === 'port') port.open(target.port, target.path)
    else if (target.kind === 'web') window.open(target.url.href, '_blank', 'noopener,noreferrer')
    else openFile(target)
  }
  const openFile = ({ path, line }: LinkTarget & { kind: 'file' }) => {
    const href = paths.devboxFile(opened.devboxId, path, line)
    // A window of its own has no tabs to return by.
    if (new URLSearchParams(location.search).get('full') === '1') window.open(href, '_blank', 'noopener')
    else router.push(href)
  }
  const follow = (target: LinkTarget, event: MouseEvent, text?: string) => {
    if (!isMeant(event, opened)) return
    const named = text !== undefined && target.kind !== 'file' ? otherAddress(text, target.url) : null
    const hidesLogin = target.kind === 'web' && target.url.username !== ''
    setHovered(undefined)
    if (named || hidesLogin || !canHover()) setQuestion({ target, named })
    else open(target)
  }
  const targetOf = useScreenLinks(opened, {
    onFollow: follow,
    onHover: (target, { clientX: x, clientY: y }) => canHover() && setHovered({ target, x, y }),
    onLeave: () => setHovered(undefined),
  })
  useServing(paneOf(opened), 'links', () => setListed(targetsInView(opened.terminal, targetOf)))

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

/** The click should open the link: modifier pressed unless disabled in settings, and nothing selected. */
const isMeant = (event: MouseEvent, { terminal }: OpenedTerminal): boolean => {
  if (event.button !== 0) return false
  if (isMac ? event.metaKey : event.ctrlKey) return true
  return (terminalSettings.get().linkClick === 'plain' || !canHover()) && !terminal.hasSelection()
}

const canHover = () => matchMedia('(hover: hover)').matches

/** Rows of a wrapped line to search for links, above and below the pointer. */
const maxRows = 24

interface LinkEvents {
  /** `text` is the link text, if it differs from the target. */
  onFollow: (target: LinkTarget, event: MouseEvent, text?: string) => void
  onHover: (target: LinkTarget, event: MouseEvent) => void
  onLeave: () => void
}

/** Registers link providers. Returns a function that resolves a link's target. */
const useScreenLinks = (
  { terminal, devboxId, session }: OpenedTerminal,
  { onFollow, onHover, onLeave }: LinkEvents,
): ((link: ILink) => LinkTarget | undefined) => {
  const targets = useRef(new WeakMap<ILink, LinkTarget>())
  const follow = useEffectEvent(onFollow)
  const hover = useEffectEvent(onHover)
  const leave = useEffectEvent(onLeave)

  useEffect(() => {
    const provider = terminal.registerLinkProvider({
      provideLinks(y, answer) {
        // Visitors with a read-only link have no Files tab.
        const links = linksAround(terminal, y).filter(({ target }) => target.kind !== 'file' || devboxId !== '')
        answer(
          links.map(({ text, range, target: found }) => {
            // The folder may have changed since the path was printed; the tooltip shows where the link leads.
            const target = found.kind === 'file' ? { ...found, path: fileInDevbox(found.path, session.folder) } : found
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
  }, [terminal, devboxId, session])
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

interface LinkListProps {
  targets: readonly LinkTarget[]
  onOpen: (target: LinkTarget) => void
  onClose: () => void
}

/** Keyboard access to the links on screen. */
const LinkList = ({ targets, onOpen, onClose }: LinkListProps) => (
  <Dialog open onOpenChange={onClose} title="Links on screen" description="Bottom to top.">
    {targets.length === 0 ? (
      <p className="text-muted">No links, ports or files on the screen.</p>
    ) : (
      <ul aria-label="Links" className="divide-y divide-line">
        {targets.map((target) => {
          const { icon: Icon, label } = kinds[target.kind]
          return (
            <li key={keyOf(target)}>
              <button
                type="button"
                onClick={() => onOpen(target)}
                className="flex min-h-9 w-full items-center gap-2.5 rounded-sm px-1 py-1.5 text-left hover:bg-surface-2"
              >
                <Icon aria-hidden className="size-4 shrink-0 text-muted" />
                <span className="sr-only">{label}:</span>
                <span className="min-w-0 flex-1">
                  <LinkAddress target={target} />
                </span>
              </button>
            </li>
          )
        })}
      </ul>
    )}
  </Dialog>
)

const keyOf = (target: LinkTarget) => (target.kind === 'file' ? `${target.path}:${target.line}` : target.url.href)

/** Targets of visible links, unique, from bottom to top. */
const targetsInView = (terminal: Terminal, targetOf: (link: ILink) => LinkTarget | undefined): LinkTarget[] => {
  const found = new Map<string, LinkTarget>()
  const top = terminal.buffer.active.viewportY
  for (let y = top + terminal.rows; y > top; y--)
    for (const provider of linkProvidersOf(terminal))
      provider.provideLinks(y, (links) => {
        for (const link of (links ?? []).toReversed()) {
          const target = targetOf(link) ?? linkTarget(link.text)
          if (target) found.set(keyOf(target), found.get(keyOf(target)) ?? target)
        }
      })
  return [...found.values()]
}

/** A link that needs confirmation: its text shows another address, or there was no pointer to preview it. */
interface QuestionedLink {
  target: LinkTarget
  named: string | null
}

const LinkQuestion = ({ target, named, onAnswer }: QuestionedLink & { onAnswer: (isWanted: boolean) => void }) => (
  <FormDialog
    open
    onOpenChange={() => onAnswer(false)}
    onSubmit={() => onAnswer(true)}
    size="sm"
    title={named ? 'Open a different address than shown?' : 'Follow this link?'}
    needs={undefined}
    submitLabel={kinds[target.kind].label}
  >
    {named && (
      <Address words="The link text shows">
        <VisibleText mono max={300}>
          {named}
        </VisibleText>
      </Address>
    )}
    <Address words={named ? 'but it opens' : 'It opens'}>
      <LinkAddress target={target} />
    </Address>
  </FormDialog>
)

const Address = ({ words, children }: { words: string; children: ReactNode }) => (
  <div className="text-lg">
    <p>{words}</p>
    <p className="mt-1 rounded-sm bg-surface-1 px-2 py-1">{children}</p>
  </div>
)

interface HoveredLink {
  target: LinkTarget
  x: number
  y: number
}

const LinkTooltip = ({ target, x, y }: HoveredLink) => {
  const key = terminalSettings.get().linkClick === 'plain' ? 'Click' : `${linkKey} + click`
  return (
    <div
      role="tooltip"
      className="xterm-hover pointer-events-none fixed z-50 w-max max-w-[min(380px,calc(100vw-1rem))] rounded-md bg-overlay px-2 py-1 text-sm shadow-overlay"
      style={{
        left: Math.max(8, Math.min(x - 12, window.innerWidth - 388)),
        ...(y > 90 ? { bottom: window.innerHeight - y + 14 } : { top: y + 20 }),
      }}
    >
      <p className="line-clamp-3">
        <LinkAddress target={target} />
      </p>
      <p className="text-muted">
        {key} {kinds[target.kind].effect}
      </p>
    </div>
  )
}

const LinkAddress = ({ target }: { target: LinkTarget }) => {
  if (target.kind === 'file')
    return (
      <VisibleText mono max={400}>
        {target.line === undefined ? target.path : `${target.path}:${target.line}`}
      </VisibleText>
    )
  const { before, host, after } = addressParts(target.url)
  return (
    <span className="font-mono break-all text-muted">
      {before}
      <b className="font-semibold text-text">{host}</b>
      <VisibleText max={400}>{after}</VisibleText>
    </span>
  )
}
