'use client'
import type { RowData, Row as TableRowModel } from '@tanstack/react-table'
import { defaultRangeExtractor, type Range, useWindowVirtualizer, type VirtualItem } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { Column, features } from './column.ts'
import { wideRem } from './column-rules.ts'

/** Used until `--row-height` can be read. */
const rowRem = 2.25
const overscan = 2
const lineRem = 1
const aroundLinesPx = 5
/** Distance from the end, in rows, at which `onNearEnd` is called. */
const nearEndRows = 60

interface Options<Row extends RowData> {
  table: RefObject<HTMLTableElement | null>
  rows: readonly TableRowModel<typeof features, Row>[]
  columns: readonly Column<Row>[]
  expanded: ReadonlySet<string>
  onNearEnd?: () => void
}

/** Which rows to render, and where. The page itself scrolls; offsets count from the first row. */
export const useVirtualRows = <Row extends RowData>({ table, rows, columns, expanded, onNearEnd }: Options<Row>) => {
  const [focusedKey, setFocusedKey] = useState<string | null>(null)
  const [cardHeights, setCardHeights] = useState<ReadonlyMap<string, number>>(new Map())
  const { rowHeight, rem, isWide, scrollMargin } = useLayout(table)
  const lineEstimates = useMemo(() => columns.flatMap(({ meta }) => meta?.lines ?? []), [columns])
  const growing = lineEstimates.length > 0
  const rowHeights = useMeasuredHeights(table, growing)
  const focusedIndex = useMemo(
    () => (focusedKey === null ? -1 : rows.findIndex(({ id }) => id === focusedKey)),
    [focusedKey, rows],
  )
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    overscan,
    scrollMargin,
    // For the server, and for the first render in the browser, which must match it.
    initialRect: { width: 1280, height: 900 },
    initialOffset: 0,
    estimateSize: (index) => {
      const row = rows[index]
      if (!row) return rowHeight
      const lines = growing && isWide ? Math.max(...lineEstimates.map((linesOf) => linesOf(row.original))) : 1
      const estimate = Math.max(rowHeight, lines * lineRem * rem + aroundLinesPx)
      return (rowHeights.get(row.id) ?? estimate) + (expanded.has(row.id) ? (cardHeights.get(row.id) ?? 0) : 0)
    },
    rangeExtractor: (range) => withFocused(range, focusedIndex),
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: everything an estimate depends on
  useLayoutEffect(
    () => virtualizer.measure(),
    [virtualizer, rowHeight, isWide, growing && rows, expanded, cardHeights, rowHeights],
  )

  const lastIndex = virtualizer.range?.endIndex ?? 0
  const isNearEnd = rows.length > 0 && lastIndex + nearEndRows >= rows.length
  const onNear = useRef(onNearEnd)
  useEffect(() => {
    onNear.current = onNearEnd
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: after more rows the end may still be near
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
    // The range may include removed rows until the next measurement.
    items: virtualizer
      .getVirtualItems()
      .filter(({ index }) => index < rows.length)
      .map(fromFirstRow),
    totalSize: virtualizer.getTotalSize(),
    setCardHeight,
    focusedKey,
    setFocusedKey,
  }
}

/** The focused row stays rendered, or focus would be lost; its neighbors too, so that Tab reaches them. */
const withFocused = (range: Range, focusedIndex: number): number[] => {
  const visible = defaultRangeExtractor(range)
  if (focusedIndex === -1) return visible
  const near = [focusedIndex - 1, focusedIndex, focusedIndex + 1].filter((index) => index >= 0 && index < range.count)
  return [...new Set([...visible, ...near])].sort((a, b) => a - b)
}

const useLayout = (table: RefObject<HTMLTableElement | null>) => {
  const [layout, setLayout] = useState({ rowHeight: rowRem * 16, rem: 16, isWide: true, scrollMargin: 0 })
  const measure = useCallback(() => {
    const body = table.current?.tBodies[0]
    if (!body) return
    const style = getComputedStyle(document.documentElement)
    const rem = Number.parseFloat(style.fontSize) || 16
    const rowHeight = (Number.parseFloat(style.getPropertyValue('--row-height')) || rowRem) * rem
    const { top, width } = body.getBoundingClientRect()
    const next = { rowHeight, rem, isWide: width >= wideRem * rem, scrollMargin: Math.round(top + window.scrollY) }
    setLayout((before) =>
      before.rowHeight === rowHeight && before.isWide === next.isWide && before.scrollMargin === next.scrollMargin
        ? before
        : next,
    )
  }, [table])
  // After every render: filters and banners above the table come and go.
  useLayoutEffect(measure)
  useEffect(() => {
    addEventListener('resize', measure)
    return () => removeEventListener('resize', measure)
  }, [measure])
  return layout
}

const useMeasuredHeights = (table: RefObject<HTMLTableElement | null>, isEnabled: boolean) => {
  const [heights, setHeights] = useState<ReadonlyMap<string, number>>(new Map())
  useEffect(() => {
    if (!table.current || !isEnabled) return
    let lastWidth = 0
    const observer = new ResizeObserver(([entry]) => {
      const width = entry?.contentRect.width ?? 0
      const isSameWidth = width === lastWidth
      lastWidth = width
      const measured = [...(table.current?.tBodies[0]?.rows ?? [])].flatMap((row) =>
        row.dataset.key === undefined ? [] : [[row.dataset.key, row.getBoundingClientRect().height] as const],
      )
      setHeights((before) => {
        const known = isSameWidth ? before : new Map<string, number>()
        return isSameWidth && measured.every(([key, height]) => known.get(key) === height)
          ? before
          : new Map([...known, ...measured])
      })
    })
    observer.observe(table.current)
    return () => observer.disconnect()
  }, [table, isEnabled])
  return heights
}
