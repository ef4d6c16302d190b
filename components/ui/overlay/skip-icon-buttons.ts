/** For `onOpenAutoFocus`: focuses the dialog instead of an icon button, whose tooltip would swallow the first Escape. */
export const skipIconButtons = (event: Event) => {
  const dialog = event.currentTarget
  if (!(dialog instanceof HTMLElement)) return
  const first = dialog.querySelector('button, input, select, textarea')
  if (!first?.matches('button[aria-label]')) return
  event.preventDefault()
  dialog.focus()
}
