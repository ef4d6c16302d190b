/** Whether keys belong to this element: text is being typed there, or a terminal listens. */
export const isTyping = (element: Element | null): boolean =>
  element instanceof HTMLElement &&
  (element.isContentEditable ||
    element.matches(
      'input:not([type=checkbox],[type=radio],[type=button]), textarea, select, [data-takes-keys] *, [data-takes-keys]',
    ))
