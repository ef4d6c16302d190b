import { VisibleText } from '#components/ui/visible-text.tsx'
import { addressParts, type LinkTarget } from '#lib/terminal/page/links.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import { linkKey } from '../../pane/platform.ts'

export interface HoveredLink {
  target: LinkTarget
  x: number
  y: number
}

const width = 380

/** Shows a link's real target at the pointer. */
export const LinkTooltip = ({ target, x, y }: HoveredLink) => {
  const key = terminalSettings.get().linkClick === 'plain' ? 'Click' : `${linkKey} + click`
  return (
    <div
      role="tooltip"
      className="xterm-hover pointer-events-none fixed z-50 w-max max-w-[min(380px,calc(100vw-1rem))] rounded-md bg-overlay px-2 py-1 text-sm shadow-overlay"
      style={{
        left: Math.max(8, Math.min(x - 12, window.innerWidth - width - 8)),
        ...(y > 90 ? { bottom: window.innerHeight - y + 14 } : { top: y + 20 }),
      }}
    >
      <p className="line-clamp-3">
        <LinkAddress target={target} />
      </p>
      <p className="text-muted">
        {key} {does[target.kind]}
      </p>
    </div>
  )
}

const does: Record<LinkTarget['kind'], string> = {
  web: 'to open in a new tab',
  port: 'to open this devbox port',
  file: 'to download it from the devbox',
}

/** A URL with its host emphasized. */
export const LinkAddress = ({ target }: { target: LinkTarget }) => {
  if (target.kind === 'file')
    return (
      <VisibleText mono max={400}>
        {target.path}
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
