import type { IDisposable, Terminal } from '@xterm/xterm'

/**
 * Keeps a terminal from answering what programs ask it. The console's own terminal answers, whether a page looks or
 * not; a page that did so too would answer twice, and each further page once more.
 */
export const silenceAnswers = ({ parser }: Pick<Terminal, 'parser'>): IDisposable => {
  const handled = () => true
  const registered = [
    // What are you? (DA1 to DA3, XTVERSION)
    parser.registerCsiHandler({ final: 'c' }, handled),
    parser.registerCsiHandler({ prefix: '>', final: 'c' }, handled),
    parser.registerCsiHandler({ prefix: '=', final: 'c' }, handled),
    parser.registerCsiHandler({ prefix: '>', final: 'q' }, handled),
    // How are you, and where is the cursor? (DSR)
    parser.registerCsiHandler({ final: 'n' }, handled),
    parser.registerCsiHandler({ prefix: '?', final: 'n' }, handled),
    // Which modes and settings are on? (DECRQM, DECRQSS, DECREQTPARM, XTGETTCAP)
    parser.registerCsiHandler({ intermediates: '$', final: 'p' }, handled),
    parser.registerCsiHandler({ prefix: '?', intermediates: '$', final: 'p' }, handled),
    parser.registerCsiHandler({ final: 'x' }, handled),
    parser.registerDcsHandler({ intermediates: '$', final: 'q' }, handled),
    parser.registerDcsHandler({ intermediates: '+', final: 'q' }, handled),
    // Which colours? Setting one goes on to the terminal. Nobody does both in one breath.
    ...[4, 5, 10, 11, 12, 13, 14, 17, 19].map((code) =>
      parser.registerOscHandler(code, (data) => data.split(';').includes('?')),
    ),
  ]
  return {
    dispose() {
      for (const each of registered) each.dispose()
    },
  }
}
