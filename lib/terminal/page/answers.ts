import type { Terminal } from '@xterm/xterm'

/**
 * Keeps a terminal from answering what programs ask it. The console's own terminal answers, whether a page looks or
 * not; a page that did so too would answer twice, and each further page once more.
 */
export const silenceAnswers = ({ parser }: Pick<Terminal, 'parser'>): void => {
  for (const question of [
    // What are you? (DA1 to DA3, XTVERSION)
    { final: 'c' },
    { prefix: '>', final: 'c' },
    { prefix: '=', final: 'c' },
    { prefix: '>', final: 'q' },
    // How are you, and where is the cursor? (DSR)
    { final: 'n' },
    { prefix: '?', final: 'n' },
    // Which modes and settings are on? (DECRQM, DECREQTPARM)
    { intermediates: '$', final: 'p' },
    { prefix: '?', intermediates: '$', final: 'p' },
    { final: 'x' },
  ])
    parser.registerCsiHandler(question, () => true)
  // Which settings are on, and what can you do? (DECRQSS, XTGETTCAP)
  for (const intermediates of ['$', '+']) parser.registerDcsHandler({ intermediates, final: 'q' }, () => true)
  // Which colours? Setting one goes on to the terminal. No program does both in one sequence.
  for (const code of [4, 5, 10, 11, 12, 13, 14, 17, 19])
    parser.registerOscHandler(code, (data) => data.split(';').includes('?'))
}
