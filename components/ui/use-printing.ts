'use client'
import { useSyncExternalStore } from 'react'

let isPrinting = false

const subscribe = (listener: () => void) => {
  const change = ({ type }: Event) => {
    isPrinting = type === 'beforeprint'
    // Renders synchronously, as updates of an external store always do.
    listener()
  }
  addEventListener('beforeprint', change)
  addEventListener('afterprint', change)
  return () => {
    removeEventListener('beforeprint', change)
    removeEventListener('afterprint', change)
  }
}

/** True while the page is laid out for paper, which can't scroll. */
export const usePrinting = (): boolean =>
  useSyncExternalStore(
    subscribe,
    () => isPrinting,
    () => false,
  )

/** Rows of a table on paper. */
export const maxPrintedRows = 500

export const printedRows = (count: number) =>
  Array.from({ length: Math.min(count, maxPrintedRows) }, (_, index) => ({ index, start: 0, end: 0 }))
