'use client'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/** Rows of one height below each other; some have more below them. */
export interface RowStack {
  count: number
  rowHeight: number
  /** Where the first row begins in what scrolls. */
  top: number
  /** What stands below a row and belongs to it, by the row's index, in rising order. */
  extras?: ReadonlyMap<number, number>
}

/** The part of what scrolls that is in view, in pixels. */
export interface ScrollView {
  offset: number
  height: number
}

export interface RowRange {
  first: number
  /** Less than `first` where there is no row. */
  last: number
}

/** Where a row begins, from the first row on. */
export const rowStart = ({ rowHeight, extras }: RowStack, index: number): number => {
  let start = index * rowHeight
  for (const [at, extra] of extras ?? []) {
    if (at >= index) break
    start += extra
  }
  return start
}

/** The row that lies there, from the first row on; beyond the ends there are none. */
const rowAt = ({ rowHeight, extras }: RowStack, offset: number): number => {
  let added = 0
  for (const [at, extra] of extras ?? []) {
    const end = (at + 1) * rowHeight + added
    if (offset < end) break
    if (offset < end + extra) return at
    added += extra
  }
  return Math.floor((offset - added) / rowHeight)
}

/** The rows in view, and a few before and after them. */
export const rowsInView = (stack: RowStack, { offset, height }: ScrollView, overscan: number): RowRange => {
  const from = offset - stack.top
  const within = (index: number) => Math.min(stack.count - 1, Math.max(0, index))
  if (stack.count === 0) return { first: 0, last: -1 }
  return {
    first: within(rowAt(stack, from) - overscan),
    last: within(rowAt(stack, from + height) + overscan),
  }
}

/** The rows of a range and `kept` ones in their order: a row that has the focus stays, as the focus would go with it. */
export const withKept = ({ first, last }: RowRange, kept: readonly number[], count: number): number[] => {
  const drawn = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const more = kept.filter((index) => index >= 0 && index < count && (index < first || index > last))
  return more.length === 0 ? drawn : [...new Set([...drawn, ...more])].sort((a, b) => a - b)
}

/** What scrolls. The same object in each draw. */
export interface Scroller {
  view: () => ScrollView
  /** Calls back on each change until the returned function is called. */
  listen: (onChange: () => void) => () => void
  /** What the server draws, and the first draw of the browser with it. */
  first: ScrollView
}

/** The rows to draw. They are drawn in the frame that shows them, and only when others come into view. */
export const useRowWindow = (stack: RowStack, scroller: Scroller, overscan: number): RowRange => {
  const [view, setView] = useState(scroller.first)
  const latest = useRef({ stack, view })
  useLayoutEffect(() => {
    latest.current = { stack, view }
  })
  const { count, rowHeight, top, extras } = stack
  // biome-ignore lint/correctness/useExhaustiveDependencies: where rows lie has changed, and with it what is in view
  useLayoutEffect(() => {
    const { offset, height } = scroller.view()
    setView((before) => (before.offset === offset && before.height === height ? before : { offset, height }))
  }, [scroller, count, rowHeight, top, extras])
  useEffect(
    () =>
      scroller.listen(() => {
        const now = scroller.view()
        const { stack, view } = latest.current
        const [before, after] = [rowsInView(stack, view, overscan), rowsInView(stack, now, overscan)]
        // Drawn later the rows would come a frame after their place.
        if (before.first !== after.first || before.last !== after.last) flushSync(() => setView(now))
      }),
    [scroller, overscan],
  )
  return rowsInView(stack, view, overscan)
}
