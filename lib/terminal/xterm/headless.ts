import headless from '@xterm/headless'
import { boundXterm } from './bounds.ts'
import { type Charset, type Core, internalsOf } from './internals.ts'

/** A terminal without a screen, with the settings that pages give theirs: widths of characters, stack of titles. */
export const openXterm = (size: { cols: number; rows: number; scrollback: number }): Core => {
  const terminal = new headless.Terminal({
    ...size,
    allowProposedApi: true,
    // What a shell prints would otherwise get into the log, at the speed of a flood.
    logLevel: 'off',
    windowOptions: { pushTitle: true, popTitle: true },
  })
  boundXterm(terminal)
  return internalsOf(terminal)
}

let flags: Map<Charset, string> | undefined

/** The letter by which a program chose a set of characters. xterm keeps only the set. */
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
