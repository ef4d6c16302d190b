import type { Terminal } from '@xterm/xterm'

/** Set a colour: of the palette, of text, ground and cursor. Each is restored by the number 100 above. */
const settings = [4, 10, 11, 12]

/**
 * Restores colours only when a program has set one. Every picture of a screen begins with restoring all of them, and
 * the terminal draws itself anew for each kind.
 */
export const restoreColoursSetBefore = ({ parser }: Pick<Terminal, 'parser'>): void => {
  let isSet = false
  for (const code of settings) {
    parser.registerOscHandler(code, () => {
      isSet = true
      return false
    })
    parser.registerOscHandler(code + 100, () => !isSet)
  }
}
