import type * as TerminalScript from './terminal-script.ts'

let loading: Promise<typeof TerminalScript> | undefined
let failures = 0

/** The script of terminals: the one a page has begun with, or loaded now. After a failure, again. */
export const loadTerminal = (): Promise<typeof TerminalScript> => {
  const path = document.documentElement.dataset.terminalScript ?? ''
  // A browser remembers of an address that it failed.
  const address = failures === 0 ? path : `${path}?${failures}`
  loading ??= (import(/* turbopackIgnore: true */ address) as Promise<typeof TerminalScript>).catch(
    (error: unknown) => {
      failures += 1
      loading = undefined
      throw error
    },
  )
  return loading
}
