// Next runs this before it brings a page to life.
import { loadXterm } from '#components/terminal/load-xterm.ts'
import { pageIdentity } from '#lib/console/page-identity.ts'

/**
 * Who opens a terminal waits for its prompt, not for the buttons around it: it starts in the page as the server sent
 * it. All of it is asked for at once, as each answer has to wait for its turn while React is at work.
 */
const startTerminalAhead = async () => {
  void pageIdentity()
  const xterm = loadXterm()
  const { startAhead } = await import('#components/terminal/start-terminal.ts')
  startAhead()
  await xterm
}

if (new URLSearchParams(location.search).get('tab') === 'terminal') {
  // A failure is for the page to tell, which asks again.
  const start = () => void startTerminalAhead().catch(() => undefined)
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start)
  else start()
}
