import headless from '@xterm/headless'
import { boundXterm } from './bounds.ts'
import { type Charset, type Core, internalsOf } from './internals.ts'

/** Headless xterm with the settings of the pages' terminals. */
export const openXterm = (size: { cols: number; rows: number; scrollback: number }): Core => {
  const terminal = new headless.Terminal({
    ...size,
    allowProposedApi: true,
    // Parser warnings would fill the log during a flood.
    logLevel: 'off',
    windowOptions: { pushTitle: true, popTitle: true },
  })
  boundXterm(terminal)
  return internalsOf(terminal)
}

let flags: Map<Charset, string> | undefined

/** Returns the letter that selects a character set; xterm only stores the set. */
export const charsetFlag = (charset: Charset): string => {
  if (!flags) {
    flags = new Map()
    const probe = openXterm({ cols: 2, rows: 1, scrollback: 0 })
    for (const flag of ['0', 'A', '4', '5', 'R', 'Q', 'K', 'Y', '6', 'Z', '7', '=', 'B']) {
      probe._inputHandler.parse(Buffer.from(`\x1b(${flag}`))
      flags.set(probe._charsetService._charsets[0], flag)
    }
    probe.dispose()
  }
  return flags.get(charset) ?? 'B'
}
