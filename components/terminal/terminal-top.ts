/** Tells the room a terminal is in how far down the page it begins: from there it goes to the end of the window. */
export const setTerminalTop = (inRoom: Element): void => {
  const room = inRoom.closest<HTMLElement>('[data-terminal-room]')
  if (!room) return
  const top = room.getBoundingClientRect().top + window.scrollY
  room.style.setProperty('--terminal-top', `${Math.round(top)}px`)
}
