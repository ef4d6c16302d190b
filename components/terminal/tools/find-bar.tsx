'use client'
import type { LucideIcon as Icon } from 'lucide-react'
import { CaseSensitive, ChevronDown, ChevronUp, Regex, Search, WholeWord, X } from 'lucide-react'
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { classes } from '#components/ui/classes.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
import type { FindQuery } from '#lib/terminal/page/find.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { tellPane, usePaneCommand } from '../pane/pane-commands.ts'
import { isMac, shortcutOf } from '../pane/platform.ts'
import { type FindState, TerminalFinder } from './terminal-finder.ts'

/** Looks for text on the screen and in what has scrolled away. Opened by its key, its button or the menu. */
export const FindBar = ({ opened }: { opened: OpenedTerminal }) => {
  const [seed, setSeed] = useState<{ text: string; count: number }>()
  // What was looked for last is there again when the bar is.
  const last = useRef<FindQuery>({ text: '', matchCase: false, wholeWord: false, regex: false })
  usePaneCommand(opened, 'find', () => {
    const selected = opened.terminal.getSelection()
    const text = /[\r\n]/.test(selected) ? '' : selected.trim()
    // At once: what is typed after the key is already what to look for.
    flushSync(() => setSeed((before) => ({ text, count: (before?.count ?? 0) + 1 })))
  })
  useEffect(
    () =>
      opened.onKey((event) => {
        if (shortcutOf(event, false) !== 'find') return false
        event.preventDefault()
        if (event.type === 'keydown') tellPane(opened, 'find')
        return true
      }),
    [opened],
  )
  if (!seed) return null
  const close = () => {
    setSeed(undefined)
    opened.focus()
  }
  return <OpenFindBar opened={opened} seed={seed} last={last} onClose={close} />
}

interface OpenFindBarProps {
  opened: OpenedTerminal
  /** Counts up when the bar is asked for again. */
  seed: { text: string; count: number }
  last: { current: FindQuery }
  onClose: () => void
}

const OpenFindBar = ({ opened, seed, last, onClose }: OpenFindBarProps) => {
  const errorId = useId()
  const field = useRef<HTMLInputElement>(null)
  const [query, setQuery] = useState<FindQuery>(last.current)
  const [state, setState] = useState<FindState>({ count: 0, hasMore: false, current: -1, problem: null })
  const [finder, setFinder] = useState<TerminalFinder>()
  /** Spoken after a step of the searcher's own; what output changes in the count meanwhile is only shown. */
  const [spoken, setSpoken] = useState('')

  const latest = useRef(state)
  useEffect(() => {
    const created = new TerminalFinder(opened.terminal, (next) => {
      latest.current = next
      setState(next)
    })
    setFinder(created)
    return () => created.dispose()
  }, [opened])

  useLayoutEffect(() => {
    if (seed.text !== '') setQuery((before) => ({ ...before, text: seed.text, regex: false }))
    field.current?.focus()
    field.current?.select()
  }, [seed])

  useEffect(() => {
    last.current = query
    finder?.search(query)
  }, [finder, query, last])

  useEffect(() => {
    const { text } = query
    const timer = setTimeout(() => setSpoken(text === '' ? '' : wordsOf(latest.current)), 500)
    return () => clearTimeout(timer)
  }, [query])

  const move = (by: 1 | -1) => {
    finder?.move(by)
    setSpoken(wordsOf(latest.current))
  }
  const step = useRef(move)
  step.current = move
  // Also while the terminal has the focus, as long as the bar is there.
  useEffect(
    () =>
      opened.onKey((event) => {
        const by = stepOf(event)
        if (!by) return false
        event.preventDefault()
        if (event.type === 'keydown') step.current(by)
        return true
      }),
    [opened],
  )

  const takeKey = (event: ReactKeyboardEvent) => {
    const by = event.key === 'Enter' ? (event.shiftKey ? -1 : 1) : stepOf(event.nativeEvent)
    if (event.key === 'Escape') onClose()
    else if (by && !event.nativeEvent.isComposing) move(by)
    else if (shortcutOf(event.nativeEvent, false) === 'find') field.current?.select()
    else return
    event.preventDefault()
  }
  const toggle = (name: 'matchCase' | 'wholeWord' | 'regex') =>
    setQuery((before) => ({ ...before, [name]: !before[name] }))
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
            onChange={({ target }) => setQuery({ ...query, text: target.value })}
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

/** Opens the find bar; in the bar of the pane. */
export const FindButton = ({ opened }: { opened: OpenedTerminal }) => (
  <IconButton
    size="sm"
    icon={Search}
    label={`Find (${isMac ? '⌘F' : 'Ctrl Shift F'})`}
    onClick={() => tellPane(opened, 'find')}
  />
)

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
  if (event.key === 'F3' && !event.ctrlKey && !event.altKey && !event.metaKey) return event.shiftKey ? -1 : 1
  const shortcut = shortcutOf(event, false)
  return shortcut === 'find-next' ? 1 : shortcut === 'find-previous' ? -1 : null
}
