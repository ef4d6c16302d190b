'use client'
import { Columns2, Maximize2, Minimize2, Rows2, X } from 'lucide-react'
import { IconButton } from '#components/ui/icon-button.tsx'
import { maxTerminals, type SplitWay } from '#lib/terminal/layout/layout.ts'

interface PaneActionsProps {
  /** Those of the shown tab. */
  panes: readonly string[]
  name: string
  isFull: boolean
  isMaximised: boolean
  isNarrow: boolean
  onSplit: (way: SplitWay) => void
  onMaximise: () => void
  onShow: (name: string) => void
  onClose: () => void
}

/** What the workspace adds to the bar of each pane. */
export const PaneActions = (props: PaneActionsProps) => {
  const { panes, name, isFull, isMaximised, isNarrow, onSplit, onMaximise, onShow, onClose } = props
  const tooMany = isFull ? `a page shows at most ${maxTerminals} terminals` : null
  const place = panes.indexOf(name)
  if (isNarrow)
    return (
      panes.length > 1 && (
        <button
          type="button"
          onClick={() => onShow(panes[(place + 1) % panes.length] as string)}
          className="tabular h-6 shrink-0 rounded-md border border-line px-2 text-sm hover:bg-surface-2"
        >
          <span className="sr-only">Show the next pane. This is </span>
          {place + 1} of {panes.length}
        </button>
      )
    )
  return (
    <>
      <IconButton
        size="sm"
        icon={Columns2}
        label="Split right"
        disabledReason={tooMany}
        onClick={() => onSplit('right')}
        className="@max-md:hidden"
      />
      <IconButton
        size="sm"
        icon={Rows2}
        label="Split down"
        disabledReason={tooMany}
        onClick={() => onSplit('down')}
        className="@max-md:hidden"
      />
      {panes.length > 1 && (
        <>
          <IconButton
            size="sm"
            icon={isMaximised ? Minimize2 : Maximize2}
            label={isMaximised ? 'Show all panes' : 'Maximise pane'}
            onClick={onMaximise}
          />
          <IconButton size="sm" icon={X} label="Close pane; its shell goes on" onClick={onClose} />
        </>
      )}
    </>
  )
}
