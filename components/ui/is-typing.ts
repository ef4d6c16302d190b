/** Whether the element handles letter keys itself: a text field or a terminal. */
export const isTyping = (element: Element | null): boolean =>
  element instanceof HTMLElement &&
  (element.isContentEditable ||
    element.matches(
      'input:not([type=checkbox],[type=radio],[type=button]), textarea, select, [data-takes-keys] *, [data-takes-keys]',
    ))
