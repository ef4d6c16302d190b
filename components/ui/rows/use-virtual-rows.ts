'use client'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { rowStart, type Scroller, useRowWindow, withKept } from './row-window.ts'

/** Of a row, in rem: `h-9`. */
const rowRem = 2.25
/** Rows drawn before and after those in view. */
const overscan = 2
/** How far from the end `onNearEnd` is called, in rows. */
const nearEndRows = 60

interface Options<Row> {
  table: RefObject<HTMLTableElement | null>
  rows: readonly Row[]
  rowKey: (row: Row) => string
  opened: ReadonlySet<string>
  onNearEnd?: () => void
}

/** Which rows of a table in the page's own scroll are drawn, and where. Offsets count from the first row. */
export const useVirtualRows = <Row>({ table, rows, rowKey, opened, onNearEnd }: Options<Row>) => {
  const [focusedKey, setFocusedKey] = useState<string | null>(null)
  const [cardHeights, setCardHeights] = useState<ReadonlyMap<string, number>>(new Map())
  const { rowHeight, scrollMargin } = usePlace(table)
  // Where the focused row is now: it stays in the page, as the focus would go with it.
  const focusedIndex = useMemo(
    () => (focusedKey === null ? -1 : rows.findIndex((row) => rowKey(row) === focusedKey)),
    [focusedKey, rows, rowKey],
  )
  const extras = useMemo(() => {
    const extras = new Map<number, number>()
    if (opened.size > 0)
      for (const [index, row] of rows.entries()) {
        const key = rowKey(row)
        if (opened.has(key)) extras.set(index, cardHeights.get(key) ?? 0)
      }
    return extras
  }, [rows, rowKey, opened, cardHeights])
  const stack = { count: rows.length, rowHeight, top: scrollMargin, extras }
  const range = useRowWindow(stack, pageScroll, overscan)
  const isNearEnd = rows.length > 0 && range.last + nearEndRows >= rows.length
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
  const near = focusedIndex === -1 ? [] : [focusedIndex - 1, focusedIndex, focusedIndex + 1]
  return {
    items: withKept(range, near, rows.length).map((index) => ({
      index,
      start: rowStart(stack, index),
      end: rowStart(stack, index + 1),
    })),
    totalSize: rowStart(stack, rows.length),
    setCardHeight,
    focusedKey,
    setFocusedKey,
  }
}

const pageScroll: Scroller = {
  view: () => ({ offset: window.scrollY, height: window.innerHeight }),
  listen: (onChange) => {
    addEventListener('scroll', onChange, { passive: true })
    addEventListener('resize', onChange)
    return () => {
      removeEventListener('scroll', onChange)
      removeEventListener('resize', onChange)
    }
  },
  first: { offset: 0, height: 900 },
}

/** How high a row is, and how far below the top of the page the first one lies. */
const usePlace = (table: RefObject<HTMLTableElement | null>) => {
  const [place, setPlace] = useState({ rowHeight: rowRem * 16, scrollMargin: 0 })
  const measure = useCallback(() => {
    const body = table.current?.tBodies[0]
    if (!body) return
    const rowHeight = rowRem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    const scrollMargin = Math.round(body.getBoundingClientRect().top + window.scrollY)
    setPlace((before) =>
      before.rowHeight === rowHeight && before.scrollMargin === scrollMargin ? before : { rowHeight, scrollMargin },
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
