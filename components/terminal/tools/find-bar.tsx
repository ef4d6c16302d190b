import { SearchAddon } from '@xterm/addon-search'
import type { Terminal } from '@xterm/xterm'
import type { LucideIcon as Icon } from 'lucide-react'
import { CaseSensitive, ChevronDown, ChevronUp, Regex, Search, WholeWord, X } from 'lucide-react'
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { classes } from '#components/ui/classes.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { type FindQuery, findPattern } from '#lib/terminal/page/find.ts'
import { linesOf } from '#lib/terminal/page/lines.ts'
import { matchInWorker, tooSlow } from '#lib/terminal/page/match-in-worker.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { isMac, shortcutOf } from '#lib/terminal/page/shortcuts.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { colorsOf } from '../pane/terminal-theme.ts'
import { useServing, useTerminalRequests } from '../terminal-requests.tsx'
import { usePaneKeys } from './use-pane-events.ts'

interface FindState {
  count: number
  /** -1 beyond the limit. */
  current: number
  problem: string | null
}

const nothingFound: FindState = { count: 0, current: -1, problem: null }

const maxMatches = 1_000

/** Searches a terminal and keeps its position while output arrives. */
class TerminalFinder {
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

export const FindBar = ({ opened }: { opened: OpenedTerminal }) => {
  const [query, setQuery] = useState<FindQuery>({ text: '', matchCase: false, wholeWord: false, regex: false })
  /** Number of times the open bar was requested; 0 while closed. */
  const [asked, setAsked] = useState(0)
  const open = () => {
    const selected = opened.terminal.getSelection()
    const text = /[\r\n]/.test(selected) ? '' : selected.trim()
    // Synchronous, so that the next key goes to the bar.
    flushSync(() => {
      setAsked((before) => before + 1)
      if (text !== '') setQuery((before) => ({ ...before, text, regex: false }))
    })
  }
  useServing(paneOf(opened), 'find', open)
  usePaneKeys(opened, (event) => (shortcutOf(event, false) === 'find' ? open : null))
  if (asked === 0) return null
  const close = () => {
    setAsked(0)
    opened.focus()
  }
  return <OpenFindBar opened={opened} asked={asked} query={query} onQuery={setQuery} onClose={close} />
}

const OpenFindBar = ({
  opened,
  asked,
  query,
  onQuery,
  onClose,
}: {
  opened: OpenedTerminal
  asked: number
  query: FindQuery
  onQuery: (query: FindQuery) => void
  onClose: () => void
}) => {
  const errorId = useId()
  const field = useRef<HTMLInputElement>(null)
  const { state, spoken, move } = useFinder(opened, query)

  // biome-ignore lint/correctness/useExhaustiveDependencies: each time the bar is asked for
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [asked])

  // Also works with focus in the terminal while the bar is open.
  usePaneKeys(opened, (event) => {
    const by = stepOf(event)
    return by && (() => move(by))
  })

  const takeKey = (event: ReactKeyboardEvent) => {
    const by = event.key === 'Enter' ? (event.shiftKey ? -1 : 1) : stepOf(event.nativeEvent)
    if (event.key === 'Escape') onClose()
    else if (by && !event.nativeEvent.isComposing) move(by)
    else if (shortcutOf(event.nativeEvent, false) === 'find') field.current?.select()
    else return
    event.preventDefault()
  }
  const toggle = (name: 'matchCase' | 'wholeWord' | 'regex') => onQuery({ ...query, [name]: !query[name] })
  const nothing = state.count === 0 ? 'nothing is found' : null

  return (
    <search
      aria-label="Find in terminal"
      onKeyDown={takeKey}
      className="absolute top-2 right-4 z-20 max-w-[calc(100%-1.5rem)] rounded-md bg-overlay p-1 shadow-overlay"
    >
      <div className="flex flex-wrap items-center gap-0.5">
        <div className="w-52 grow">
          <Input
            ref={field}
            aria-label="Find"
            placeholder="Find"
            icon={Search}
            mono
            value={query.text}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            aria-invalid={state.problem ? true : undefined}
            aria-describedby={state.problem ? errorId : undefined}
            onChange={({ target }) => onQuery({ ...query, text: target.value })}
          />
        </div>
        <Toggle icon={CaseSensitive} label="Match case" isOn={query.matchCase} onClick={() => toggle('matchCase')} />
        <Toggle icon={WholeWord} label="Whole words" isOn={query.wholeWord} onClick={() => toggle('wholeWord')} />
        <Toggle icon={Regex} label="Regular expression" isOn={query.regex} onClick={() => toggle('regex')} />
        <span className="tabular min-w-20 flex-1 px-2 text-center text-sm whitespace-nowrap text-muted">
          {query.text !== '' && !state.problem && wordsOf(state)}
        </span>
        <IconButton
          size="sm"
          icon={ChevronUp}
          label="Previous match"
          disabledReason={nothing}
          onClick={() => move(-1)}
        />
        <IconButton size="sm" icon={ChevronDown} label="Next match" disabledReason={nothing} onClick={() => move(1)} />
        <IconButton size="sm" icon={X} label="Close find" onClick={onClose} />
      </div>
      {state.problem && (
        <p id={errorId} role="alert" className="max-w-96 px-1 pt-1 text-sm break-words text-danger">
          {state.problem}
        </p>
      )}
      <p role="status" className="sr-only">
        {spoken}
      </p>
    </search>
  )
}

const useFinder = ({ terminal }: OpenedTerminal, query: FindQuery) => {
  const [state, setState] = useState<FindState>(nothingFound)
  const [finder, setFinder] = useState<TerminalFinder>()
  /** Announced after each step by the user, not when output changes the count. */
  const [spoken, setSpoken] = useState('')

  useEffect(() => {
    const created = new TerminalFinder(terminal, setState)
    setFinder(created)
    return () => created.dispose()
  }, [terminal])
  useEffect(() => {
    void finder?.search(query)
    const timer = setTimeout(() => setSpoken(query.text === '' ? '' : wordsOf(finder?.state ?? nothingFound)), 500)
    return () => clearTimeout(timer)
  }, [finder, query])

  const move = (by: 1 | -1) => {
    finder?.move(by)
    setSpoken(wordsOf(finder?.state ?? nothingFound))
  }
  return { state, spoken, move }
}

export const FindButton = ({ opened }: { opened: OpenedTerminal }) => {
  const requests = useTerminalRequests()
  const label = `Find (${isMac ? '⌘F' : 'Ctrl Shift F'})`
  return <IconButton size="sm" icon={Search} label={label} onClick={() => requests.ask(paneOf(opened), 'find')} />
}

const Toggle = ({ icon, label, isOn, onClick }: { icon: Icon; label: string; isOn: boolean; onClick: () => void }) => (
  <IconButton
    size="sm"
    icon={icon}
    label={label}
    aria-pressed={isOn}
    onClick={onClick}
    className={classes(isOn && 'border-accent bg-accent-soft text-accent')}
  />
)

const wordsOf = ({ count, current }: FindState): string => {
  if (count === 0) return 'No matches'
  const all = `${formatCount(count)}${count === maxMatches ? '+' : ''}`
  return current < 0 ? `${all} matches` : `${formatCount(current + 1)} of ${all}`
}

const stepOf = (event: KeyboardEvent): 1 | -1 | null => {
  if (event.key === 'F3' && !event.ctrlKey && !event.altKey && !event.metaKey) return event.shiftKey ? -1 : 1
  const shortcut = shortcutOf(event, false)
  return shortcut === 'find-next' ? 1 : shortcut === 'find-previous' ? -1 : null
}
