import { SearchAddon } from '@xterm/addon-search'
import type { Terminal } from '@xterm/xterm'
import { type FindQuery, findPattern, linesOf } from '#lib/terminal/page/find.ts'
import { matchInWorker, tooSlow } from '#lib/terminal/page/match-in-worker.ts'
import { colorsOf } from '../pane/terminal-theme.ts'

export interface FindState {
  count: number
  /** -1 beyond the limit. */
  current: number
  problem: string | null
}

export const nothingFound: FindState = { count: 0, current: -1, problem: null }

export const maxMatches = 1_000

/** Searches a terminal and keeps its position while output arrives. */
export class TerminalFinder {
  readonly #terminal: Terminal
  readonly #onChange: (state: FindState) => void
  readonly #addon = new SearchAddon({ highlightLimit: maxMatches })
  state = nothingFound
  #query: FindQuery | undefined
  /** Regular expressions run in a worker first, because they could freeze the page. */
  #trial = new AbortController()

  constructor(terminal: Terminal, onChange: (state: FindState) => void) {
    this.#terminal = terminal
    this.#onChange = onChange
    terminal.loadAddon(this.#addon)
    this.#addon.onDidChangeResults(({ resultIndex: current, resultCount: count }) => this.#change({ current, count }))
  }

  /** Shows the latest match. */
  async search(query: FindQuery) {
    this.#trial.abort()
    this.#trial = new AbortController()
    const { signal } = this.#trial
    this.#clear()
    const found = findPattern(query)
    const problem = found && 'problem' in found ? found.problem : null
    this.#change({ ...nothingFound, problem })
    if (!found || 'problem' in found) return
    if (query.regex) {
      const lines = linesOf(this.#terminal.buffer.active)
      const end = await matchInWorker(found.pattern, lines, signal).catch((error: Error) => error)
      if (signal.aborted) return
      if (end === null || end instanceof Error) return this.#change({ problem: end?.message ?? tooSlow })
    }
    this.#query = query
    this.move(-1)
  }

  /** Moves to the next (1) or previous (-1) match and wraps around. */
  move(by: 1 | -1) {
    if (!this.#query) return
    const { text, matchCase: caseSensitive, wholeWord, regex } = this.#query
    const color = colorsOf(this.#terminal.element ?? document.body, ['--find-other', '--find-current'])
    const decorations = {
      matchBackground: color['--find-other'],
      matchOverviewRuler: color['--find-other'],
      activeMatchBackground: color['--find-current'],
      activeMatchColorOverviewRuler: color['--find-current'],
    }
    const options = { caseSensitive, wholeWord, regex, decorations }
    if (by > 0) this.#addon.findNext(text, options)
    else this.#addon.findPrevious(text, options)
  }

  dispose() {
    this.#trial.abort()
    this.#clear()
    this.#addon.dispose()
  }

  #clear() {
    this.#query = undefined
    this.#addon.clearDecorations()
    this.#terminal.clearSelection()
  }

  #change(part: Partial<FindState>) {
    this.state = { ...this.state, ...part }
    this.#onChange(this.state)
  }
}
