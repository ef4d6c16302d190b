import type { IDecoration, IDisposable, IMarker, Terminal } from '@xterm/xterm'
import {
  type FindMatch,
  type FindPattern,
  type FindQuery,
  findMatches,
  findPattern,
  matchFrom,
} from '#lib/terminal/page/find.ts'
import { linesOf } from '#lib/terminal/page/lines.ts'
import { matchInWorker, tooSlow } from '#lib/terminal/page/match-in-worker.ts'
import { colorsOf } from '../pane/terminal-theme.ts'

export interface FindState {
  count: number
  hasMore: boolean
  current: number
  problem: string | null
}

export const nothingFound: FindState = { count: 0, hasMore: false, current: -1, problem: null }

const maxMatches = 20_000
/** Rows covered by the find bar. */
const rowsUnderBar = 3
/** Shortest interval between searches while output arrives. */
const followMs = 250

/** Ours instead of `@xterm/addon-search`, whose regular expressions run on the page and can freeze it. */
export class TerminalFinder {
  readonly #terminal: Terminal
  readonly #onChange: (state: FindState) => void
  readonly #subscriptions: IDisposable[]
  state = nothingFound
  #query: FindQuery | undefined
  /** Searches started by the user scroll to the match. */
  #isAsked = false
  #matches: readonly FindMatch[] = []
  /** Follows the current match's line while the scrollback is trimmed. */
  #marker: IMarker | undefined
  #decorations: IDecoration[] = []
  #decoratedFrom = -1
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Regular expressions run in a worker first, where they can time out. */
  #trial = new AbortController()

  constructor(terminal: Terminal, onChange: (state: FindState) => void) {
    this.#terminal = terminal
    this.#onChange = onChange
    const follow = () => this.#follow()
    this.#subscriptions = [
      terminal.onWriteParsed(follow),
      terminal.onResize(follow),
      terminal.buffer.onBufferChange(follow),
      terminal.onRender(() => {
        // Trimmed scrollback shifts every match.
        if (terminal.buffer.active.viewportY !== this.#decoratedFrom && !this.#timer) this.#decorate()
      }),
    ]
  }

  /** Starts at the previous match, or at what is visible. */
  search(query: FindQuery) {
    this.#query = query
    this.#isAsked = true
    this.#find()
  }

  /** Moves to the next (1) or previous (-1) match and wraps around. */
  move(by: 1 | -1) {
    // The results may be older than the output.
    if (this.#timer) this.#find()
    const { length } = this.#matches
    if (length === 0) return
    this.#goTo((this.state.current + by + length) % length)
    this.#reveal()
  }

  dispose() {
    clearTimeout(this.#timer)
    this.#trial.abort()
    for (const subscription of this.#subscriptions) subscription.dispose()
    this.#clear()
    this.#marker?.dispose()
  }

  get #match(): FindMatch | undefined {
    return this.#matches[this.state.current]
  }

  #follow() {
    this.#timer ??= setTimeout(() => this.#find(), followMs)
  }

  #find() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#trial.abort()
    if (!this.#query) return
    const found = findPattern(this.#query)
    if (found && 'pattern' in found && this.#query.regex) return void this.#tryFirst(found.pattern)
    this.#show(found)
  }

  async #tryFirst(pattern: RegExp) {
    this.#trial = new AbortController()
    const { signal } = this.#trial
    const { active } = this.#terminal.buffer
    const end = await matchInWorker(pattern, linesOf(active), signal).catch((error: Error) => error)
    if (signal.aborted) return
    const problem = end === null ? tooSlow : end instanceof Error ? end.message : null
    this.#show(problem === null ? { pattern } : { problem })
  }

  #show(found: FindPattern) {
    const { buffer, cols } = this.#terminal
    const problem = found && 'problem' in found ? found.problem : null
    const { matches, hasMore } =
      found && 'pattern' in found
        ? findMatches(buffer.active, cols, found.pattern, maxMatches)
        : { matches: [], hasMore: false }
    const before = this.#place()
    this.#matches = matches
    this.#goTo(before ? sameOrNext(matches, before) : matchFrom(matches, this.#top), {
      count: matches.length,
      hasMore,
      problem,
    })
    if (this.#isAsked) this.#reveal()
    this.#isAsked = false
  }

  #place(): { row: number; column: number } | undefined {
    const match = this.#match
    const row = this.#marker?.line ?? -1
    return match && row >= 0 ? { row, column: match.column } : undefined
  }

  #goTo(current: number, more: Partial<FindState> = {}) {
    this.state = { ...this.state, ...more, current }
    this.#marker?.dispose()
    this.#marker = this.#match && this.#markerAt(this.#match.row)
    this.#decorate()
    this.#onChange(this.state)
  }

  #reveal() {
    const match = this.#match
    const { active } = this.#terminal.buffer
    if (!match || (match.row >= this.#top && match.row < active.viewportY + this.#terminal.rows)) return
    this.#terminal.scrollToLine(Math.max(0, match.row - Math.floor(this.#terminal.rows / 2)))
  }

  /** First visible row below the find bar. */
  get #top(): number {
    const { viewportY } = this.#terminal.buffer.active
    return viewportY === 0 ? 0 : viewportY + rowsUnderBar
  }

  #markerAt(row: number): IMarker {
    const { baseY, cursorY } = this.#terminal.buffer.active
    return this.#terminal.registerMarker(row - baseY - cursorY)
  }

  #clear() {
    for (const decoration of this.#decorations) decoration.marker.dispose()
    this.#decorations = []
  }

  /** Decorates only visible matches; there may be thousands. */
  #decorate() {
    this.#clear()
    const { rows, cols, element } = this.#terminal
    const { viewportY } = this.#terminal.buffer.active
    this.#decoratedFrom = viewportY
    if (!element || this.#matches.length === 0) return
    const color = colorsOf(element, ['--find-other', '--find-current', '--find-current-text'])
    const other = { backgroundColor: color['--find-other'] }
    const current = { backgroundColor: color['--find-current'], foregroundColor: color['--find-current-text'] }
    const at = this.#match
    for (const match of this.#matches) {
      const end = match.row + Math.ceil((match.column + match.cells) / cols)
      if (end <= viewportY) continue
      if (match.row >= viewportY + rows) break
      for (const piece of piecesOf(match, cols)) {
        const decoration = this.#terminal.registerDecoration({
          marker: this.#markerAt(piece.row),
          x: piece.column,
          width: piece.cells,
          ...(match === at ? current : other),
        })
        if (decoration) this.#decorations.push(decoration)
      }
    }
  }
}

const piecesOf = ({ row, column, cells }: FindMatch, columns: number): FindMatch[] => {
  const first = Math.min(cells, columns - column)
  return cells > first
    ? [{ row, column, cells: first }, ...piecesOf({ row: row + 1, column: 0, cells: cells - first }, columns)]
    : [{ row, column, cells }]
}

const sameOrNext = (matches: readonly FindMatch[], { row, column }: { row: number; column: number }): number => {
  const at = matches.findIndex((match) => match.row > row || (match.row === row && match.column >= column))
  return at === -1 ? matches.length - 1 : at
}
