/**
 * For `onOpenAutoFocus`. Before a button that is only an icon the dialog itself takes the focus: the button's tooltip
 * would swallow the first Escape. Links are passed over, as a dialog passes them over for its first focus.
 */
export const keepOffTooltips = (event: Event) => {
  const dialog = event.currentTarget
  if (!(dialog instanceof HTMLElement)) return
  const first = dialog.querySelector('button, input, select, textarea')
  if (!first?.matches('button[aria-label]')) return
  event.preventDefault()
  dialog.focus()
}
