import { type CSSProperties, type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { classes } from '#components/ui/classes.ts'
import { type Area, moveLine, type PlacedSeparator, placeTree } from '#lib/terminal/layout/geometry.ts'
import { minShare, sharesOf } from '#lib/terminal/layout/layout.ts'
import { setShares, shownTab } from '#lib/terminal/layout/moves.ts'
import type { Workspace } from './use-workspace.ts'

export interface PanePlace {
  isVisible: boolean
  isActive: boolean
}

interface TerminalSplitsProps {
  workspace: Workspace
  panelId: string
  renderPane: (name: string, place: PanePlace) => ReactNode
}

/** All panes of all tabs as siblings: moving a terminal to another parent would remount and reconnect it. */
export const TerminalSplits = ({ workspace, panelId, renderPane }: TerminalSplitsProps) => {
  const { layout, alone, change } = workspace
  // Steps of a held key stay out of the address: browsers limit how often it may change.
  const [moving, setMoving] = useState<Moving>()
  const latest = useRef<Moving>(undefined)
  const move = (to: Moving | undefined) => {
    latest.current = to
    setMoving(to)
  }
  const shown = moving ? setShares(layout, layout.active, moving.path, moving.shares) : layout
  const active = shownTab(shown)
  const panes = shown.tabs.flatMap((tab) =>
    placeTree(tab.tree).panes.map((pane) => ({
      ...pane,
      isVisible: tab === active && (alone === null || alone === pane.name),
      isActive: tab.active === pane.name,
      isAlone: alone === pane.name,
    })),
  )
  const isSplit = alone === null && typeof active.tree !== 'string'
  const settle = () => {
    const moved = latest.current
    if (moved) change((now) => setShares(now, now.active, moved.path, moved.shares), 'replace')
    move(undefined)
  }
  return (
    <div id={panelId} role="tabpanel" aria-label="Visible terminals" className="relative -m-[3px] min-h-0 flex-1">
      {panes.map(({ name, isVisible, isActive, isAlone, ...area }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form
        <div
          key={name}
          id={paneId(panelId, name)}
          role="group"
          aria-label={`Pane ${name}`}
          className={classes(
            'absolute p-[3px]',
            // Hidden panes are moved off screen, so that they keep their size.
            !isVisible && 'invisible -translate-x-[300vw]',
            isVisible && isActive && isSplit && '*:border-accent',
          )}
          style={isAlone ? whole : placeOf(area)}
        >
          {renderPane(name, { isVisible, isActive })}
        </div>
      ))}
      {alone === null &&
        placeTree(active.tree).separators.map((separator) => (
          <Separator
            key={`${separator.path.join('.')}:${separator.after}`}
            separator={separator}
            panelId={panelId}
            onMove={(shares) => move({ path: separator.path, shares })}
            onSettle={settle}
          />
        ))}
    </div>
  )
}

interface Moving {
  path: readonly number[]
  shares: readonly number[]
}

const whole: CSSProperties = { inset: 0 }
const placeOf = ({ left, top, width, height }: Area): CSSProperties => ({
  left: `${left}%`,
  top: `${top}%`,
  width: `${width}%`,
  height: `${height}%`,
})
const paneId = (panelId: string, name: string) => `${panelId}-${name}`

interface SeparatorProps {
  separator: PlacedSeparator
  panelId: string
  onMove: (shares: readonly number[]) => void
  onSettle: () => void
}

const stepPercent = 2

const Separator = ({ separator, panelId, onMove, onSettle }: SeparatorProps) => {
  const { way, area, at, shares, after, between } = separator
  const isVertical = way === 'right'
  const moveTo = (percent: number) => onMove(moveLine(shares, after, percent, minShare))
  const onKeyDown = (event: KeyboardEvent) => {
    const [less, more] = isVertical ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown']
    if (event.key === less) moveTo(at - stepPercent)
    else if (event.key === more) moveTo(at + stepPercent)
    else if (event.key === 'Home') moveTo(0)
    else if (event.key === 'End') moveTo(100)
    else if (event.key === 'Enter') onMove(sharesOf(shares.map(() => undefined)))
    else return
    event.preventDefault()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a focusable separator is a widget, which <hr> is not
    <div
      role="separator"
      tabIndex={0}
      aria-label={`Between ${between[0]} and ${between[1]}`}
      aria-orientation={isVertical ? 'vertical' : 'horizontal'}
      aria-controls={`${paneId(panelId, between[0])} ${paneId(panelId, between[1])}`}
      aria-valuenow={Math.round(at)}
      aria-valuemin={0}
      aria-valuemax={100}
      title="Click, then resize with the arrow keys; Enter makes the panes equal"
      style={{
        left: `${area.left + (isVertical ? (area.width * at) / 100 : 0)}%`,
        top: `${area.top + (isVertical ? 0 : (area.height * at) / 100)}%`,
        [isVertical ? 'height' : 'width']: `${isVertical ? area.height : area.width}%`,
      }}
      onKeyDown={onKeyDown}
      // On release, because a held key moves the separator many times.
      onKeyUp={onSettle}
      onBlur={onSettle}
      className={classes(
        'group absolute z-10 flex items-center justify-center rounded-sm',
        isVertical ? 'w-2 -translate-x-1/2' : 'h-2 -translate-y-1/2',
      )}
    >
      <span
        className={classes(
          'rounded-full transition-colors group-hover:bg-accent group-focus-visible:bg-accent',
          isVertical ? 'h-full w-0.5' : 'h-0.5 w-full',
        )}
      />
    </div>
  )
}
