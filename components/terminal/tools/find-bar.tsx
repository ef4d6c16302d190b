import type { LucideIcon as Icon } from 'lucide-react'
import { CaseSensitive, ChevronDown, ChevronUp, Regex, Search, WholeWord, X } from 'lucide-react'
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { classes } from '#components/ui/classes.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { terminalActionOf, useChosenKeys } from '#lib/browser/frame/shortcuts.ts'
import type { FindQuery } from '#lib/terminal/page/find.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { useServing, useTerminalRequests } from '../terminal-requests.tsx'
import { BarButton } from './bar-button.tsx'
import { type FindState, nothingFound, TerminalFinder } from './terminal-finder.ts'
import { keysOf } from './terminal-items.tsx'
import { usePaneKeys } from './use-pane-events.ts'

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
  usePaneKeys(opened, (event) => (terminalActionOf(event) === 'terminal.find' ? open : null))
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
    else if (terminalActionOf(event.nativeEvent) === 'terminal.find') field.current?.select()
    else return
    event.preventDefault()
  }
  const toggle = (name: 'matchCase' | 'wholeWord' | 'regex') => onQuery({ ...query, [name]: !query[name] })
  const nothing = state.count === 0 ? 'no matches' : null

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
    finder?.search(query)
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
  useChosenKeys()
  return (
    <BarButton
      icon={Search}
      label="Find"
      keys={keysOf('terminal.find')}
      onClick={() => requests.ask(paneOf(opened), 'find')}
    />
  )
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

const wordsOf = ({ count, hasMore, current }: FindState): string =>
  count === 0 ? 'No matches' : `${formatCount(current + 1)} of ${formatCount(count)}${hasMore ? '+' : ''}`

const stepOf = (event: KeyboardEvent): 1 | -1 | null => {
  const action = terminalActionOf(event)
  return action === 'terminal.find-next' ? 1 : action === 'terminal.find-previous' ? -1 : null
}
