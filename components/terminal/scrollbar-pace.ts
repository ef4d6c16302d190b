import type { Terminal } from '@xterm/xterm'

/** What xterm has inside; without it the scrollbar keeps xterm's own pace. */
interface Inside {
  _core: {
    _viewport?: { _sync(line?: number): void }
    _writeBuffer: { _action(data: string | Uint8Array, resumed?: boolean): unknown }
  }
}

/**
 * Has the scrollbar move once for each piece of output. xterm moves it with every line that scrolls by, which takes as
 * long as to parse the line; nobody can look at it, or scroll, before the piece is parsed. For a terminal that is open.
 */
export const paceScrollbar = (terminal: Terminal): void => {
  const { _viewport: viewport, _writeBuffer: writes } = (terminal as unknown as Inside)._core
  if (!viewport) return
  const parse = writes._action
  const move = viewport._sync.bind(viewport)
  let isParsing = false
  let hasScrolled = false
  viewport._sync = (line) => {
    if (isParsing) hasScrolled = true
    else move(line)
  }
  writes._action = (data, resumed) => {
    isParsing = true
    try {
      return parse(data, resumed)
    } finally {
      isParsing = false
      if (hasScrolled) move()
      hasScrolled = false
    }
  }
}
