import { useEffect, useRef } from 'react'
import { isTyping } from '#components/ui/is-typing.ts'
import type { FilesNav } from './files-nav.ts'

/** Handles keys outside of fields, dialogs and menus. `name` is the focused row. */
export const useFolderKeys = (onKey: (key: string, name: string | undefined) => boolean) => {
  const latest = useRef(onKey)
  useEffect(() => {
    latest.current = onKey
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { activeElement } = document
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
      if (isTyping(activeElement) || document.querySelector('[role=dialog],[role=menu]')) return
      const name = activeElement?.closest('tr')?.getAttribute('data-key') ?? undefined
      if (latest.current(event.key, name)) event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

/** After loading, focuses the entry the user came from, or the first. */
export const useFolderFocus = (element: HTMLElement | null, nav: FilesNav, isLoaded: boolean) => {
  const latest = useRef(nav)
  useEffect(() => {
    latest.current = nav
  })
  useEffect(() => {
    if (!element || !isLoaded) return
    const name = latest.current.takeFocused()
    if (name !== undefined) focusRow(element, name)
  }, [element, isLoaded])
}

/** Focuses an entry once the dialog has closed. */
export const useFocusAfter = (element: HTMLElement | null, name: string | undefined, onFocused: () => void) => {
  useEffect(() => {
    if (!element || name === undefined) return
    // The dialog restores the focus first.
    const timer = setTimeout(() => {
      focusRow(element, name)
      onFocused()
    })
    return () => clearTimeout(timer)
  }, [element, name, onFocused])
}

const focusRow = (element: HTMLElement, name: string) => {
  const rows = [...element.querySelectorAll<HTMLElement>('tr[data-key]')]
  const row = rows.find((each) => each.dataset.key === name) ?? rows[0]
  const target = row?.querySelector<HTMLElement>('[data-row]') ?? element.querySelector<HTMLElement>('nav a')
  target?.focus()
}
