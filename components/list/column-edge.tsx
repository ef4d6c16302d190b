import { type PointerEvent, useRef } from 'react'
import { classes } from '#components/ui/classes.ts'
import { maxColumnWidth, minColumnWidth } from './column-choice.tsx'

interface ColumnEdgeProps {
  /** The edge that moves with the column's width: the left one where the name takes the rest of the table. */
  side: 'left' | 'right'
  onResize: (width: number | undefined) => void
}

/**
 * The edge of a column's header: dragged to resize the column, clicked twice to give it its own width back. The Columns
 * dialog does the same by keyboard.
 */
export const ColumnEdge = ({ side, onResize }: ColumnEdgeProps) => {
  const drag = useRef<{ startX: number; startWidth: number; width?: number }>(undefined)
  const end = () => {
    if (drag.current?.width !== undefined) onResize(drag.current.width)
    drag.current = undefined
  }
  return (
    <span
      aria-hidden
      data-edge=""
      className={classes(
        'absolute inset-y-0 hidden w-2 cursor-col-resize touch-none border-transparent hover:border-line-strong active:border-focus @2xl:block print:hidden',
        side === 'left' ? 'left-0 border-l-2' : 'right-0 border-r-2',
      )}
      onPointerDown={(event: PointerEvent<HTMLElement>) => {
        const cell = event.currentTarget.closest('th')
        if (event.button !== 0 || !cell) return
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
        drag.current = { startX: event.clientX, startWidth: cell.getBoundingClientRect().width }
      }}
      onPointerMove={(event: PointerEvent<HTMLElement>) => {
        if (!drag.current) return
        const { startX, startWidth } = drag.current
        const by = side === 'left' ? startX - event.clientX : event.clientX - startX
        const width = Math.round(Math.min(maxColumnWidth, Math.max(minColumnWidth, startWidth + by)))
        drag.current.width = width
        // The list renders again only with the final width.
        event.currentTarget.closest('th')?.style.setProperty('--column-width', `${width}px`)
      }}
      onPointerUp={end}
      onPointerCancel={end}
      onDoubleClick={() => onResize(undefined)}
    />
  )
}
