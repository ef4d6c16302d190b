/**
 * For `onOpenAutoFocus`. If the first control is an icon button, focuses the dialog instead: the button's tooltip would
 * swallow the first Escape. Radix skips links, too.
 */
export const skipIconButtons = (event: Event) => {
  const dialog = event.currentTarget
  if (!(dialog instanceof HTMLElement)) return
  const first = dialog.querySelector('button, input, select, textarea')
  if (!first?.matches('button[aria-label]')) return
  event.preventDefault()
  dialog.focus()
}
