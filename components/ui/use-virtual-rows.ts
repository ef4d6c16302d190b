'use client'
import { defaultRangeExtractor, type Range, useWindowVirtualizer, type VirtualItem } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'

/** Of a row, in rem, until `--row-height` can be read. */
const rowRem = 2.25
/** Rows drawn before and after those in view. */
const overscan = 2
/** Of a line of a cell that grows, with `leading-4`, and what stands above and below the lines. */
const lineRem = 1
const aroundLinesPx = 5
/** From here on a table is wide, as its `@2xl:` classes have it. */
const wideRem = 42
/** How far from the end `onNearEnd` is called, in rows. */
const nearEndRows = 60

interface Options<Row> {
  table: RefObject<HTMLTableElement | null>
  rows: readonly Row[]
  rowKey: (row: Row) => string
  opened: ReadonlySet<string>
  /** How many lines a row is about to take on a wide table, where rows grow with what they hold. */
  linesOf: ((row: Row) => number) | null
  onNearEnd?: () => void
}

/** Which rows of a table in the page's own scroll are drawn, and where. Offsets count from the first row. */
export const useVirtualRows = <Row>({ table, rows, rowKey, opened, linesOf, onNearEnd }: Options<Row>) => {
  const [focusedKey, setFocusedKey] = useState<string | null>(null)
  const [cardHeights, setCardHeights] = useState<ReadonlyMap<string, number>>(new Map())
  const { rowHeight, rem, isWide, scrollMargin } = usePlace(table)
  const rowHeights = useRowHeights(table, linesOf !== null)
  // Where the focused row is now: it stays in the page, as the focus would go with it.
  const focusedIndex = useMemo(
    () => (focusedKey === null ? -1 : rows.findIndex((row) => rowKey(row) === focusedKey)),
    [focusedKey, rows, rowKey],
  )
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    overscan,
    scrollMargin,
    // What the server draws, and the first draw of the browser with it.
    initialRect: { width: 1280, height: 900 },
    initialOffset: 0,
    estimateSize: (index) => {
      const row = rows[index] as Row
      const lines = linesOf && isWide ? linesOf(row) : 1
      const about = Math.max(rowHeight, lines * lineRem * rem + aroundLinesPx)
      if (opened.size === 0 && rowHeights.size === 0) return about
      const key = rowKey(row)
      return (rowHeights.get(key) ?? about) + (opened.has(key) ? (cardHeights.get(key) ?? 0) : 0)
    },
    rangeExtractor: (range) => withFocused(range, focusedIndex),
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what an estimate depends on
  useLayoutEffect(
    () => virtualizer.measure(),
    [virtualizer, rowHeight, isWide, linesOf && rows, opened, cardHeights, rowHeights],
  )

  const items = virtualizer.getVirtualItems()
  const lastDrawn = virtualizer.range?.endIndex ?? 0
  const isNearEnd = rows.length > 0 && lastDrawn + nearEndRows >= rows.length
  const onNear = useRef(onNearEnd)
  useEffect(() => {
    onNear.current = onNearEnd
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: more rows may leave the end as near as it was
  useEffect(() => {
    if (isNearEnd) onNear.current?.()
  }, [isNearEnd, rows.length])

  const setCardHeight = useCallback(
    (key: string, height: number) =>
      setCardHeights((before) => (before.get(key) === height ? before : new Map(before).set(key, height))),
    [],
  )
  const fromFirstRow = ({ index, start, end }: VirtualItem) => ({
    index,
    start: start - scrollMargin,
    end: end - scrollMargin,
  })
  return {
    // Rows that are gone may still be in the range until the next measurement.
    items: items.filter(({ index }) => index < rows.length).map(fromFirstRow),
    totalSize: virtualizer.getTotalSize(),
    setCardHeight,
    focusedKey,
    setFocusedKey,
  }
}

/** The focused row and its neighbours are drawn wherever the view is. */
const withFocused = (range: Range, focusedIndex: number): number[] => {
  const drawn = defaultRangeExtractor(range)
  if (focusedIndex === -1) return drawn
  const near = [focusedIndex - 1, focusedIndex, focusedIndex + 1].filter((index) => index >= 0 && index < range.count)
  return [...new Set([...drawn, ...near])].sort((a, b) => a - b)
}

/** How high a row is by itself, and how far below the top of the page the first one lies. */
const usePlace = (table: RefObject<HTMLTableElement | null>) => {
  const [place, setPlace] = useState({ rowHeight: rowRem * 16, rem: 16, isWide: true, scrollMargin: 0 })
  const measure = useCallback(() => {
    const body = table.current?.tBodies[0]
    if (!body) return
    const style = getComputedStyle(document.documentElement)
    const rem = Number.parseFloat(style.fontSize)
    const rowHeight = (Number.parseFloat(style.getPropertyValue('--row-height')) || rowRem) * rem
    const { top, width } = body.getBoundingClientRect()
    const next = { rowHeight, rem, isWide: width >= wideRem * rem, scrollMargin: Math.round(top + window.scrollY) }
    setPlace((before) =>
      before.rowHeight === rowHeight && before.isWide === next.isWide && before.scrollMargin === next.scrollMargin
        ? before
        : next,
    )
  }, [table])
  // With each draw: filters and banners above the table come and go. An equal place draws nothing anew.
  useLayoutEffect(measure)
  useEffect(() => {
    addEventListener('resize', measure)
    return () => removeEventListener('resize', measure)
  }, [measure])
  return place
}

/** How high the rows are that have been drawn, at the width the table has: text that wraps is as high as it is. */
const useRowHeights = (table: RefObject<HTMLTableElement | null>, doRowsGrow: boolean) => {
  const [heights, setHeights] = useState<ReadonlyMap<string, number>>(new Map())
  useEffect(() => {
    if (!table.current || !doRowsGrow) return
    let lastWidth = 0
    const observer = new ResizeObserver(([entry]) => {
      const width = entry?.contentRect.width ?? 0
      const isSameWidth = width === lastWidth
      lastWidth = width
      const drawn = [...(table.current?.tBodies[0]?.rows ?? [])].flatMap((row) =>
        row.dataset.key === undefined ? [] : [[row.dataset.key, row.getBoundingClientRect().height] as const],
      )
      setHeights((before) => {
        const known = isSameWidth ? before : new Map<string, number>()
        return isSameWidth && drawn.every(([key, height]) => known.get(key) === height)
          ? before
          : new Map([...known, ...drawn])
      })
    })
    observer.observe(table.current)
    return () => observer.disconnect()
  }, [table, doRowsGrow])
  return heights
}
