'use client'
import { type RefObject, useEffect, useRef } from 'react'
import { flushSync } from 'react-dom'
import { hasLetterKeys } from './choice/browser-choice.ts'
import { isTyping } from './is-typing.ts'

const steps: Record<string, number> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }

interface Options<Row> {
  table: RefObject<HTMLTableElement | null>
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** Has the row of this key drawn wherever it is. */
  setFocusedKey: (key: string) => void
  onSelect?: (key: string, range: boolean) => void
}

export const useRowKeys = <Row>(options: Options<Row>) => {
  const latest = useRef(options)
  useEffect(() => {
    latest.current = options
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { activeElement } = document
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(activeElement)) return
      if (event.key.length === 1 && !hasLetterKeys()) return
      const { table, onSelect } = latest.current
      const isInside = table.current?.contains(activeElement) ?? false
      // A dialog or a menu over the page has the keys to itself.
      if (!isInside && document.querySelector('[role=dialog],[role=menu]')) return
      const key = isInside ? activeElement?.closest('tr')?.getAttribute('data-key') : null
      if (event.key.toLowerCase() === 'x' && key != null && onSelect) {
        event.preventDefault()
        onSelect(key, event.shiftKey)
        return
      }
      const step = steps[event.key]
      if (!step || (event.key.startsWith('Arrow') && !isInside)) return
      if (move(latest.current, key ?? null, step)) event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

const move = <Row>({ table, rows, rowKey, setFocusedKey }: Options<Row>, from: string | null, step: number) => {
  const current = from === null ? -1 : rows.findIndex((row) => rowKey(row) === from)
  const next = current === -1 ? indexInView(table.current, step) : current + step
  const row = rows[next]
  if (row === undefined) return false
  const key = rowKey(row)
  flushSync(() => setFocusedKey(key))
  const element = [...(table.current?.rows ?? [])].find((each) => each.getAttribute('data-key') === key)
  const target = element?.matches('[data-row]') ? element : element?.querySelector<HTMLElement>('[data-row]')
  target?.focus({ preventScroll: true })
  element?.scrollIntoView({ block: 'nearest' })
  return target !== undefined
}

/** The first row of the view, or going up the last. */
const indexInView = (table: HTMLTableElement | null, step: number): number => {
  const top = (table?.tHead?.getBoundingClientRect().bottom ?? 0) - 1
  const inView = [...(table?.tBodies[0]?.rows ?? [])].filter((row) => {
    const box = row.getBoundingClientRect()
    return row.hasAttribute('data-key') && box.top >= top && box.bottom <= window.innerHeight
  })
  const index = (step === 1 ? inView.at(0) : inView.at(-1))?.getAttribute('aria-rowindex')
  return index ? Number(index) - 2 : -1
}
