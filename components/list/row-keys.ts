'use client'
import { type RefObject, useEffect, useRef } from 'react'
import { flushSync } from 'react-dom'
import { hasLetterKeys } from '#components/ui/choice/browser-choice.ts'
import { isTyping } from '#components/ui/is-typing.ts'

const steps: Record<string, number> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }

interface Options {
  table: RefObject<HTMLTableElement | null>
  rows: readonly { id: string }[]
  /** Renders the row even if it is out of view. */
  setFocusedKey: (key: string) => void
  onSelect: ((id: string, isRange: boolean) => void) | undefined
}

export const useRowKeys = (options: Options) => {
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
      if (!isInside && document.querySelector('[role=dialog],[role=menu]')) return
      const key = isInside ? (activeElement?.closest('tr')?.getAttribute('data-key') ?? null) : null
      if (event.key.toLowerCase() === 'x' && key !== null && onSelect) {
        event.preventDefault()
        onSelect(key, event.shiftKey)
        return
      }
      const step = steps[event.key]
      if (!step || (event.key.startsWith('Arrow') && !isInside)) return
      if (moveFocus(latest.current, key, step)) event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

const moveFocus = ({ table, rows, setFocusedKey }: Options, from: string | null, step: number): boolean => {
  const current = from === null ? -1 : rows.findIndex(({ id }) => id === from)
  const key = rows[current === -1 ? indexInView(table.current, step) : current + step]?.id
  if (key === undefined) return false
  flushSync(() => setFocusedKey(key))
  const element = [...(table.current?.rows ?? [])].find((each) => each.getAttribute('data-key') === key)
  const target = element?.matches('[data-row]') ? element : element?.querySelector<HTMLElement>('[data-row]')
  target?.focus({ preventScroll: true })
  element?.scrollIntoView({ block: 'nearest' })
  return target !== undefined
}

/** The first visible row, or the last when moving up. */
const indexInView = (table: HTMLTableElement | null, step: number): number => {
  const top = (table?.tHead?.getBoundingClientRect().bottom ?? 0) - 1
  const inView = [...(table?.tBodies[0]?.rows ?? [])].filter((row) => {
    const box = row.getBoundingClientRect()
    return row.hasAttribute('data-key') && box.top >= top && box.bottom <= window.innerHeight
  })
  const index = (step === 1 ? inView.at(0) : inView.at(-1))?.getAttribute('aria-rowindex')
  return index ? Number(index) - 2 : -1
}
