export interface PageAction {
  label: string
  run: () => void
}

const places = 'main [data-page-actions], main section[aria-label^="Selected"]'

/**
 * What can be done on the page now: the buttons of its header, its tabs, and what it offers for what is selected. They
 * are pressed where they stand, so that each keeps its own rules of when it can be done.
 */
export const pageActions = (): PageAction[] => {
  const actions = new Map<string, PageAction>()
  for (const place of document.querySelectorAll(places))
    for (const element of place.querySelectorAll<HTMLElement>('button, a[href]')) {
      const label = labelOf(element)
      if (label === '' || element.matches('[aria-disabled=true], [aria-current=page], :disabled')) continue
      if (!element.checkVisibility()) continue
      actions.set(label, { label, run: () => press(element) })
    }
  return [...actions.values()]
}

const labelOf = (element: HTMLElement): string => {
  const label = (element.getAttribute('aria-label') ?? element.textContent ?? '').trim()
  if (element.closest('nav')) return `${label} tab`
  return element.getAttribute('aria-haspopup') === 'menu' ? `${label} …` : label
}

const press = (element: HTMLElement): void => {
  element.focus()
  // A menu opens by key or by pointer, and by key it takes the focus to its first item.
  if (element.getAttribute('aria-haspopup') === 'menu')
    element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
  else element.click()
}
