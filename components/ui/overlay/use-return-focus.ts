import { useRef } from 'react'

/** For dialogs without a Radix trigger: returns focus to where it was, or to the page if that element was removed. */
export const useReturnFocus = () => {
  const before = useRef<Element | null>(null)
  return {
    rememberFocus: () => {
      before.current = document.activeElement
    },
    returnFocus: (event: Event) => {
      event.preventDefault()
      const { current } = before
      const isPresent = current instanceof HTMLElement && current.isConnected && current !== document.body
      const target = isPresent ? current : document.querySelector<HTMLElement>('main')
      target?.focus({ preventScroll: true })
    },
  }
}
