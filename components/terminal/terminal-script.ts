/**
 * The script of all terminals, built by itself (`scripts/build.ts`): xterm and what speaks to the console, without React.
 * A page that opens with a terminal begins with it and brings itself to life afterwards; others load it by
 * `load-terminal.ts`.
 */
import type { EarlyShell } from './early-shell.ts'
import { findLoneTerminal } from './lone-terminal.ts'
import { startAhead } from './start-terminal.ts'

export { startTerminal, takeStarted } from './start-terminal.ts'

/** Who opens a terminal waits for its prompt, not for the buttons around it. */
const startLoneTerminal = async (shell: EarlyShell) => {
  try {
    if (document.readyState === 'loading')
      await new Promise((parsed) => document.addEventListener('DOMContentLoaded', parsed))
    const lone = await findLoneTerminal()
    if (lone) await startAhead(lone, shell)
  } finally {
    shell.leave()
  }
}

// A failure is for the page to tell, which tries again.
const { earlyShell } = window
if (earlyShell)
  startLoneTerminal(earlyShell)
    .catch(() => undefined)
    .finally(window.bringToLife)
