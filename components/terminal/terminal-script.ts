/**
 * The script of all terminals, built by itself (`scripts/build.ts`): xterm and what speaks to the console, without React.
 * A page that opens with a terminal begins with it and brings itself to life afterwards; others load it by
 * `load-terminal.ts`.
 */
import { askForShell, findLoneTerminal } from './early-terminal.ts'
import { startAhead } from './start-terminal.ts'

export { startTerminal, takeStarted } from './start-terminal.ts'

declare global {
  interface Window {
    /** Lets React begin with a page that was held back for its terminal; there where it was. */
    bringToLife?(): void
  }
}

/** Who opens a terminal waits for its prompt, not for the buttons around it. */
const startLoneTerminal = async () => {
  if (document.readyState === 'loading')
    await new Promise((parsed) => document.addEventListener('DOMContentLoaded', parsed))
  const lone = await findLoneTerminal()
  if (!lone) return
  const shell = askForShell(lone)
  try {
    await startAhead(lone, shell)
  } finally {
    shell.leave()
  }
}

// A failure is for the page to tell, which tries again.
if (window.bringToLife)
  startLoneTerminal()
    .catch(() => undefined)
    .finally(window.bringToLife)
