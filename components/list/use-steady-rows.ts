'use client'
import { type PointerEvent, useMemo, useState } from 'react'
import { steady } from '#lib/browser/lists/steady-rows.ts'

/** Keeps a polled list still while the pointer is over it. `list` names what is listed: another list starts afresh. */
export const useSteadyRows = <Row>(
  list: string,
  fresh: readonly Row[],
  keyOf: (row: Row) => string,
  isPolled: boolean,
) => {
  const [hold, setHold] = useState<{ list: string; rows: readonly Row[] }>()
  const isHeld = isPolled && hold?.list === list && hold.rows.length > 0
  const { rows, waiting } = useMemo(
    () => (isHeld ? steady(hold.rows, fresh, keyOf) : { rows: fresh, waiting: 0 }),
    [isHeld, hold, fresh, keyOf],
  )
  return {
    rows,
    waiting,
    release: () => setHold(undefined),
    /** For the element around the rows. A finger does not hover. */
    pointer: isPolled
      ? {
          onPointerEnter: (event: PointerEvent) => event.pointerType === 'mouse' && setHold({ list, rows: fresh }),
          onPointerLeave: () => setHold(undefined),
        }
      : {},
  }
}
