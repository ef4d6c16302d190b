// Next runs this before it brings a page to life.
import { askForShell, findLoneTerminal } from '#components/terminal/early-terminal.ts'
import { loadXterm } from '#components/terminal/load-xterm.ts'
import { letTerminalFirst } from '#components/terminal/terminal-first.tsx'

/**
 * Who opens a terminal waits for its prompt, not for the buttons around it: it starts in the page as the server sent
 * it. All of it is asked for at once, as each answer has to wait for its turn.
 */
const startTerminalAhead = async () => {
  const starting = import('#components/terminal/start-terminal.ts')
  loadXterm().catch(() => undefined)
  const lone = await findLoneTerminal()
  if (!lone) return
  const shell = askForShell(lone)
  try {
    const { startAhead } = await starting
    await startAhead(lone, shell)
  } finally {
    shell.leave()
  }
}

if (new URLSearchParams(location.search).get('tab') === 'terminal') {
  const isParsed = new Promise<void>((parsed) => {
    if (document.readyState !== 'loading') parsed()
    else document.addEventListener('DOMContentLoaded', () => parsed())
  })
  // A failure is for the page to tell, which asks again.
  letTerminalFirst(isParsed.then(startTerminalAhead))
}
