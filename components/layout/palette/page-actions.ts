export interface PageAction {
  label: string
  run: () => void
}

const containers = 'main [data-page-actions], main section[aria-label^="Selected"]'

/** Actions of the current page: its header buttons, tabs and bulk actions. Running one clicks its button. */
export const pageActions = (): PageAction[] => {
  const actions = new Map<string, PageAction>()
  for (const container of document.querySelectorAll(containers))
    for (const element of container.querySelectorAll<HTMLElement>('button, a[href]')) {
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
  // Opening a menu by key focuses its first item.
  if (element.getAttribute('aria-haspopup') === 'menu')
    element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
  else element.click()
}
