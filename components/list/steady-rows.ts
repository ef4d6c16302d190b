'use client'
import { type PointerEvent, useMemo, useState } from 'react'

interface Identified {
  id: string
}

/** Keeps rows in place while the pointer is over a polled list; new rows above the last one wait. */
export const useSteadyRows = <Row extends Identified>(list: string, fresh: readonly Row[], isPolled: boolean) => {
  const [hold, setHold] = useState<{ list: string; rows: readonly Row[] }>()
  const isHeld = isPolled && hold?.list === list && hold.rows.length > 0
  const { rows, waiting } = useMemo(
    () => (isHeld ? steadyRows(hold.rows, fresh) : { rows: fresh, waiting: 0 }),
    [isHeld, hold, fresh],
  )
  return {
    rows,
    waiting,
    release: () => setHold(undefined),
    /** For the element around the rows. Touch has no hover. */
    pointer: isPolled
      ? {
          onPointerEnter: (event: PointerEvent) => event.pointerType === 'mouse' && setHold({ list, rows: fresh }),
          onPointerLeave: () => setHold(undefined),
        }
      : {},
  }
}

export const steadyRows = <Row extends Identified>(
  held: readonly Row[],
  fresh: readonly Row[],
): { rows: Row[]; waiting: number } => {
  const byId = new Map(fresh.map((row) => [row.id, row]))
  const heldIds = new Set(held.map(({ id }) => id))
  const lastHeld = fresh.findLastIndex(({ id }) => heldIds.has(id))
  const isNew = ({ id }: Row) => !heldIds.has(id)
  return {
    rows: [...held.map((row) => byId.get(row.id) ?? row), ...fresh.slice(lastHeld + 1).filter(isNew)],
    waiting: lastHeld === -1 ? 0 : fresh.slice(0, lastHeld).filter(isNew).length,
  }
}
