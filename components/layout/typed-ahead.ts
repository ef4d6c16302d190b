export interface TypedAhead {
  text: string
  /** Enter was pressed at its end. */
  isEntered: boolean
}

/**
 * Takes what is typed while the palette is being downloaded, so that nothing of it is lost or does something to the page
 * below. The answer stops it and tells what was typed; calling it again tells the same.
 */
export const takeTypedAhead = (onEscape: () => void): (() => TypedAhead) => {
  let text = ''
  let isEntered = false
  const listen = (event: KeyboardEvent) => {
    const isElsewhere = event.target instanceof Element && event.target.closest('[role=alert]') !== null
    if (event.ctrlKey || event.metaKey || event.altKey || isElsewhere) return
    if (event.key === 'Escape') onEscape()
    else if (event.key === 'Enter') isEntered = true
    else if (event.key === 'Backspace') text = text.slice(0, -1)
    else if (event.key.length === 1) text += event.key
    else return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  window.addEventListener('keydown', listen, true)
  return () => {
    window.removeEventListener('keydown', listen, true)
    return { text, isEntered }
  }
}
