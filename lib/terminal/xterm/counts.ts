/**
 * The console's server and its pages parse what a devbox prints with the same terminal, which takes every count in a
 * sequence at its word: `CSI 2147483647 b` repeats a character two thousand million times before anything else runs.
 * It stands here because both must do the same, or their screens would differ.
 */

/** The inner terminal of xterm's browser and headless builds alike: its handlers see the counts themselves, no copy. */
interface Core {
  registerCsiHandler(
    id: { final: string },
    handler: (params: { params: Int32Array; length: number }) => boolean,
  ): { dispose(): void }
}

interface CountedTerminal {
  readonly cols: number
  readonly rows: number
}

/** What a count does once for each time, and the number from which on more changes nothing that can be seen. */
const counted: readonly [final: string, enough: (terminal: CountedTerminal) => number][] = [
  // Lines scrolled up or down, inserted or deleted: after as many as there are, all are blank.
  ['S', ({ rows }) => rows],
  ['T', ({ rows }) => rows],
  ['L', ({ rows }) => rows],
  ['M', ({ rows }) => rows],
  // Tab stops forward and back: no more of them than columns.
  ['I', ({ cols }) => cols],
  ['Z', ({ cols }) => cols],
  // The last character again. Programs repeat it within a line; other terminals end at the line's end, too.
  ['b', ({ cols }) => cols],
]

/** Keeps sequences of a few bytes from keeping the terminal busy for hours. Answers the call that ends it. */
export const boundCounts = (terminal: CountedTerminal): (() => void) => {
  const { _core: core } = terminal as unknown as { _core: Core }
  const registered = counted.map(([final, enough]) =>
    core.registerCsiHandler({ final }, ({ params, length }) => {
      const most = enough(terminal)
      if (length > 0 && (params[0] ?? 0) > most) params[0] = most
      // On to the terminal's own handler, which reads the same array.
      return false
    }),
  )
  return () => {
    for (const each of registered) each.dispose()
  }
}
