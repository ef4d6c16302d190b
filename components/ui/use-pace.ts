'use client'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Tells a row that comes into the table how much of it to draw, and when to draw the rest. */
export interface Pace {
  /** Rows go by faster than they can be read. */
  isFast: boolean
  /** And so fast that nothing of them can be seen: most of those drawn are new, and were with the frame before. */
  isBlurred: boolean
  /** Has `draw` called once scrolling has come to rest, a few rows with each frame. */
  whenAtRest: (draw: () => void) => () => void
}

/** More rows than these coming with one frame go by too fast to be read: 72 pixels, five screens a second. */
const readableRows = 2
/** Rows completed in one frame: all at once would be the long task that drawing them lightly has avoided. */
const rowsPerFrame = 3

interface Drawn {
  first: number
  last: number
  isScrolling: boolean
}

/** `first` and `last` are the rows drawn now. The same object for good, so that a change of pace draws no row anew. */
export const usePace = ({ first, last, isScrolling }: Drawn): Pace => {
  const [{ pace, waiting }] = useState(() => {
    const waiting = new Set<() => void>()
    const whenAtRest = (draw: () => void) => {
      waiting.add(draw)
      return () => void waiting.delete(draw)
    }
    return { pace: { isFast: false, isBlurred: false, whenAtRest } as Pace, waiting }
  })
  const before = useRef({ first, last, isMostlyNew: false })
  const kept = Math.max(0, Math.min(last, before.current.last) - Math.max(first, before.current.first) + 1)
  const coming = last - first + 1 - kept
  // Rows are told before they are drawn; a draw that is thrown away leaves nothing wrong, only rows lighter than needed.
  pace.isFast = isScrolling && (pace.isFast || coming > readableRows)
  const isMostlyNew = coming > (last - first + 1) / 2
  pace.isBlurred = pace.isFast && isMostlyNew && before.current.isMostlyNew
  useLayoutEffect(() => {
    before.current = { first, last, isMostlyNew }
  })
  const isAtRest = !isScrolling
  useEffect(() => {
    if (!isAtRest) return
    let frame = 0
    const drawSome = () => {
      for (const draw of [...waiting].slice(0, rowsPerFrame)) {
        waiting.delete(draw)
        draw()
      }
      frame = waiting.size > 0 ? requestAnimationFrame(drawSome) : 0
    }
    drawSome()
    return () => cancelAnimationFrame(frame)
  }, [isAtRest, waiting])
  return pace
}

/** Whether this row is drawn lightly: it came into the table while rows went by fast, and they still do. */
export const useIsLight = (pace: Pace): boolean => {
  const [isLight, setIsLight] = useState(pace.isFast)
  useEffect(() => (isLight ? pace.whenAtRest(() => setIsLight(false)) : undefined), [isLight, pace])
  return isLight
}
