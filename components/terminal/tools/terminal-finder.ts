import type { IDecoration, IDisposable, IMarker, Terminal } from '@xterm/xterm'
import {
  type FindMatch,
  type FindPattern,
  type FindQuery,
  findMatches,
  findPattern,
  linesOf,
  matchFrom,
} from '#lib/terminal/page/find.ts'
import { matchApart, tooSlow } from '#lib/terminal/page/match-apart.ts'
import { coloursOf } from '../pane/terminal-theme.ts'

export interface FindState {
  count: number
  /** There are more than `count`. */
  hasMore: boolean
  /** Which of them is looked at, from 0; -1 where there is none. */
  current: number
  /** What is wrong with the regular expression; null when nothing is. */
  problem: string | null
  /** The current match is in the upper right corner, and nothing can be scrolled in above it. */
  isInCorner: boolean
}

export const nothingFound: FindState = { count: 0, hasMore: false, current: -1, problem: null, isInCorner: false }

/** The most matches that are counted: nobody steps through more. */
const maxMatches = 20_000
/** What the find bar covers in the upper right corner, at the usual size of cells or a smaller one. */
const rowsUnderBar = 3
const columnsUnderBar = 70
/** The search follows new output this often at most. */
const followMs = 250

/** Looks for text in a terminal, marks what it finds on the screen, and keeps its place while output comes. */
export class TerminalFinder {
  readonly #terminal: Terminal
  readonly #onChange: (state: FindState) => void
  readonly #subscriptions: IDisposable[]
  state = nothingFound
  #query: FindQuery | undefined
  /** By a person, who is led to what is found. */
  #isAsked = false
  #matches: readonly FindMatch[] = []
  /** Holds the line of the current match while lines are trimmed above it. */
  #marker: IMarker | undefined
  #decorations: IDecoration[] = []
  #decoratedFrom = -1
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Of an expression: it is tried apart first, where it can be ended. */
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
        // Lines above may leave the scrollback as others come, and every match then stands on another row.
        if (terminal.buffer.active.viewportY !== this.#decoratedFrom && !this.#timer) this.#decorate()
      }),
    ]
  }

  /** Begins at the match looked at before, else at what is in view. */
  search(query: FindQuery) {
    this.#query = query
    this.#isAsked = true
    this.#find()
  }

  /** Moves to the next match below, or above by -1, and from the last one to the first. */
  move(by: 1 | -1) {
    // The view may be older than the last output.
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
    const end = await matchApart(pattern, linesOf(active), signal).catch((error: Error) => error)
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

  /** Where the current match stands now, if its line is still there. */
  #place(): { row: number; column: number } | undefined {
    const match = this.#match
    const row = this.#marker?.line ?? -1
    return match && row >= 0 ? { row, column: match.column } : undefined
  }

  #goTo(current: number, more: Partial<FindState> = {}) {
    const { row, column, cells } = this.#matches[current] ?? { row: Number.POSITIVE_INFINITY, column: 0, cells: 0 }
    const isInCorner = row < rowsUnderBar && column + cells > this.#terminal.cols - columnsUnderBar
    this.state = { ...this.state, ...more, current, isInCorner }
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

  /** The first row in view that the find bar does not cover. */
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

  /** Marks only the matches in view, as there may be many thousands. */
  #decorate() {
    this.#clear()
    const { rows, cols, element } = this.#terminal
    const { viewportY } = this.#terminal.buffer.active
    this.#decoratedFrom = viewportY
    if (!element || this.#matches.length === 0) return
    const colour = coloursOf(element, ['--find-other', '--find-current', '--find-current-text'])
    const other = { backgroundColor: colour['--find-other'] }
    const current = { backgroundColor: colour['--find-current'], foregroundColor: colour['--find-current-text'] }
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

/** The rows of a match that goes over the end of one. */
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
