import { useRef } from 'react'

/**
 * For a dialog that no trigger of its own opens: remembers what had the focus before and gives it back, or to the page
 * when that is gone (a menu's item, a row that was removed).
 */
export const useReturnFocus = () => {
  const before = useRef<Element | null>(null)
  return {
    rememberFocus: () => {
      before.current = document.activeElement
    },
    returnFocus: (event: Event) => {
      event.preventDefault()
      const { current } = before
      const isThere = current instanceof HTMLElement && current.isConnected && current !== document.body
      const target = isThere ? current : document.querySelector<HTMLElement>('main')
      target?.focus({ preventScroll: true })
    },
  }
}
