import { useEffect, useRef } from 'react'
import { isTyping } from '#components/ui/is-typing.ts'
import type { FilesPlace } from './files-place.ts'

/** Keys of the page, outside of fields, dialogs and menus; `name` is the row that has the focus. */
export const useFolderKeys = (take: (key: string, name: string | undefined) => boolean) => {
  const latest = useRef(take)
  useEffect(() => {
    latest.current = take
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

/** Once the folder is read, the focus goes to the entry the person came from, or to the first. */
export const useFolderFocus = (element: HTMLElement | null, place: FilesPlace, isRead: boolean) => {
  const latest = useRef(place)
  useEffect(() => {
    latest.current = place
  })
  useEffect(() => {
    if (!element || !isRead) return
    const name = latest.current.takeFocused()
    if (name !== undefined) focusRow(element, name)
  }, [element, isRead])
}

/** What was renamed, or stands where something was deleted, gets the focus once the dialog has gone. */
export const useFocusAfter = (
  element: HTMLElement | null,
  wanted: string | undefined,
  setWanted: (name: undefined) => void,
) => {
  useEffect(() => {
    if (!element || wanted === undefined) return
    // A dialog gives the focus back in a turn of its own.
    const timer = setTimeout(() => {
      focusRow(element, wanted)
      setWanted(undefined)
    })
    return () => clearTimeout(timer)
  }, [element, wanted, setWanted])
}

const focusRow = (element: HTMLElement, name: string) => {
  const rows = [...element.querySelectorAll<HTMLElement>('tr[data-key]')]
  const row = rows.find((each) => each.dataset.key === name) ?? rows[0]
  const target = row?.querySelector<HTMLElement>('[data-row]') ?? element.querySelector<HTMLElement>('nav a')
  target?.focus()
}
