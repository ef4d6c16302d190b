import type { Core } from './internals.ts'

const promptMark = 'A'.charCodeAt(0)
const endMark = 'D'.charCodeAt(0)

/**
 * Ends the modes that a full-screen program left on when it was killed: reports of the mouse would be typed at the prompt,
 * and the screen of the program would hide the scrollback. A shell that marks its prompts (OSC 133) says when it is back.
 */
export const endModesAtPrompt = (core: Core): void => {
  let isFirst = true
  core._inputHandler._parser.registerOscHandler(133, {
    start() {
      isFirst = true
    },
    // Before other readers of the mark see it whole: what it marks is on the normal screen.
    put(data, start) {
      const letter = isFirst ? data[start] : undefined
      isFirst = false
      if (letter === endMark ? hasLeftovers(core) || hasOddities(core) : letter === promptMark && hasLeftovers(core))
        endModes(core)
    },
    end: () => false,
  })
}

/** No shell wants these while it waits for a command. */
const hasLeftovers = ({ buffers, coreMouseService, coreService }: Core): boolean =>
  buffers.active === buffers.alt ||
  coreMouseService.activeProtocol !== 'NONE' ||
  coreService.decPrivateModes.sendFocus ||
  coreService.isCursorHidden

/** The line editor of a shell may want these, but sets them later than it marks the end of a command. */
const hasOddities = ({ rows, buffers: { active }, coreService, _charsetService: { charset } }: Core): boolean => {
  const { applicationCursorKeys, applicationKeypad, origin, wraparound } = coreService.decPrivateModes
  const hasRegion = active.scrollTop !== 0 || active.scrollBottom !== rows - 1
  return (
    applicationCursorKeys ||
    applicationKeypad ||
    origin ||
    !wraparound ||
    coreService.modes.insertMode ||
    hasRegion ||
    charset !== undefined
  )
}

const endModes = (core: Core): void => {
  const { buffers, coreMouseService, _inputHandler: handler } = core
  const modes = (...params: number[]) => ({ params: Int32Array.from(params), length: params.length })
  const isOnOwnScreen = buffers.active === buffers.alt
  const message = isOnOwnScreen ? lastLine(core) : ''
  if (isOnOwnScreen) handler.resetModePrivate(modes(1049))
  coreMouseService.activeProtocol = 'NONE'
  coreMouseService.activeEncoding = 'DEFAULT'
  handler.resetModePrivate(modes(2026))
  handler.softReset(modes())
  if (message === '') return
  const characters = Uint32Array.from(message, (character) => character.codePointAt(0) ?? 0x20)
  handler.print(characters, 0, characters.length)
  handler.carriageReturn()
  handler.lineFeed()
}

/** What the shell printed last, such as "Killed", which would go with the screen of the program. */
const lastLine = ({ buffers: { alt } }: Core): string => {
  for (let y = alt.x > 0 ? alt.y : alt.y - 1; y >= 0; y--) {
    const text = alt.lines.get(alt.ybase + y)?.translateToString(true) ?? ''
    if (text !== '') return text
  }
  return ''
}
