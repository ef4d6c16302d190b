import type { Core } from './internals.ts'

const promptMark = 'A'.charCodeAt(0)
const endMark = 'D'.charCodeAt(0)

/** Resets modes a killed full-screen program left on, once the shell marks its prompt (OSC 133). */
export const endModesAtPrompt = (core: Core): void => {
  let isFirst = true
  core._inputHandler._parser.registerOscHandler(133, {
    start() {
      isFirst = true
    },
    // Runs before other readers of the mark, which refers to the normal screen.
    put(data, start) {
      const letter = isFirst ? data[start] : undefined
      isFirst = false
      if (letter === endMark ? hasLeftovers(core) || hasOddities(core) : letter === promptMark && hasLeftovers(core))
        endModes(core)
    },
    end: () => false,
  })
}

/** No shell needs these while it waits for a command. */
const hasLeftovers = ({ buffers, coreMouseService, coreService }: Core): boolean =>
  buffers.active === buffers.alt ||
  coreMouseService.activeProtocol !== 'NONE' ||
  coreService.decPrivateModes.sendFocus ||
  coreService.isCursorHidden

/** A line editor may set these, but only after the end mark of the command. */
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

/** The last line the shell printed, such as "Killed", which leaving the alternate screen would lose. */
const lastLine = ({ buffers: { alt } }: Core): string => {
  for (let y = alt.x > 0 ? alt.y : alt.y - 1; y >= 0; y--) {
    const text = alt.lines.get(alt.ybase + y)?.translateToString(true) ?? ''
    if (text !== '') return text
  }
  return ''
}
