import { useState } from 'react'
import { downloadFile } from '#components/files/file-download.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { fileInDevbox, type LinkTarget, otherAddress } from '#lib/terminal/page/links.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import type { OpenedTerminal } from '../../pane/opened-terminal.ts'
import { isMac } from '../../pane/platform.ts'
import { useServing } from '../../terminal-requests.tsx'
import { useDevboxPort } from '../use-devbox-port.tsx'
import { LinkList, targetsInView } from './link-list.tsx'
import { LinkQuestion, type QuestionedLink } from './link-question.tsx'
import { type HoveredLink, LinkTooltip } from './link-tooltip.tsx'
import { useScreenLinks } from './use-screen-links.ts'

/** Makes URLs, ports and files on screen clickable. */
export const TerminalLinks = ({ opened }: { opened: OpenedTerminal }) => {
  const port = useDevboxPort(opened.devboxId)
  const [hovered, setHovered] = useState<HoveredLink>()
  const [question, setQuestion] = useState<QuestionedLink>()
  const [listed, setListed] = useState<readonly LinkTarget[]>()

  const open = (target: LinkTarget) => {
    if (target.kind === 'port') port.open(target.port, target.path)
    else if (target.kind === 'web') window.open(target.url.href, '_blank', 'noopener,noreferrer')
    else void download(opened.devboxId, fileInDevbox(target.path, opened.session.folder))
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
    // Touch has no hover, so it asks for confirmation instead.
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
