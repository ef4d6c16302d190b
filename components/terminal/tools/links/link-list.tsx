import type { ILink, Terminal } from '@xterm/xterm'
import { Download, ExternalLink, type LucideIcon, Plug } from 'lucide-react'
import { Dialog } from '#components/ui/dialog.tsx'
import { type LinkTarget, linkTarget } from '#lib/terminal/page/links.ts'
import { linkProvidersOf } from '#lib/terminal/xterm/internals.ts'
import { LinkAddress } from './link-tooltip.tsx'

interface LinkListProps {
  targets: readonly LinkTarget[]
  onOpen: (target: LinkTarget) => void
  onClose: () => void
}

/** Keyboard access to the links on screen. */
export const LinkList = ({ targets, onOpen, onClose }: LinkListProps) => (
  <Dialog open onOpenChange={onClose} title="Links on screen" description="Bottom to top.">
    {targets.length === 0 ? (
      <p className="text-muted">No address, port or file is on the screen now.</p>
    ) : (
      <ul aria-label="Links" className="divide-y divide-line">
        {targets.map((target) => {
          const { icon: Icon, does } = looks[target.kind]
          return (
            <li key={keyOf(target)}>
              <button
                type="button"
                onClick={() => onOpen(target)}
                className="flex min-h-9 w-full items-center gap-2.5 rounded-sm px-1 py-1.5 text-left hover:bg-surface-2"
              >
                <Icon aria-hidden className="size-4 shrink-0 text-muted" />
                <span className="sr-only">{does}</span>
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

const looks: Record<LinkTarget['kind'], { icon: LucideIcon; does: string }> = {
  web: { icon: ExternalLink, does: 'Open in a new tab:' },
  port: { icon: Plug, does: 'Open devbox port:' },
  file: { icon: Download, does: 'Download:' },
}

const keyOf = (target: LinkTarget) => (target.kind === 'file' ? target.path : target.url.href)

/** Targets of visible links, unique, from bottom to top. */
export const targetsInView = (terminal: Terminal, targetOf: (link: ILink) => LinkTarget | undefined): LinkTarget[] => {
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
