'use client'
import { useQuery } from '@tanstack/react-query'
import { Command } from 'cmdk'
import type { LucideIcon } from 'lucide-react'
import {
  Box,
  Camera,
  Clapperboard,
  ClipboardList,
  Columns2,
  DraftingCompass,
  FlaskConical,
  FlaskRound,
  History,
  Keyboard,
  Layers,
  ListChecks,
  LogOut,
  Plus,
  RotateCcw,
  Rows2,
  Rows3,
  Search,
  SendHorizontal,
  SquareTerminal,
  Trophy,
  UserPlus,
  Waypoints,
  Zap,
} from 'lucide-react'
import { usePathname, useRouter } from 'next/navigation'
import { Dialog } from 'radix-ui'
import { type ReactNode, useEffect, useState } from 'react'
import { executionQueries } from '#components/commands/queries.ts'
import { useTerminalRequest } from '#components/terminal/workspace/use-terminal-layout.ts'
import { chosen } from '#components/ui/choice/browser-choice.ts'
import { Modal } from '#components/ui/dialog.tsx'
import { cutEnd } from '#components/ui/text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { themes } from '#lib/browser/frame/preferences.ts'
import { keyCaps, useChosenKeys, useShortcutKeys } from '#lib/browser/frame/shortcuts.ts'
import { useSignOut } from '../account-menu.tsx'
import { Keys } from '../keys.tsx'
import { useDestinations } from '../navigation.ts'
import { destinationKeys } from '../shortcuts.ts'
import { applyPreference, setTheme, themeLabels } from '../theme.tsx'
import { kindOfId, maxSearched, type ResultKind, recordSearch, type SearchResult } from './record-search.ts'

interface CommandPaletteProps {
  onClose: () => void
  onHelp: () => void
}

export const CommandPalette = (props: CommandPaletteProps) => (
  <Modal
    onOpenChange={props.onClose}
    className="top-[12dvh] left-1/2 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-lg bg-overlay"
  >
    <Dialog.Title className="sr-only">Command palette</Dialog.Title>
    <Commands {...props} />
  </Modal>
)

const Commands = ({ onClose, onHelp }: CommandPaletteProps) => {
  const router = useRouter()
  const signOut = useSignOut()
  const terminalActions = useTerminalActions()
  const [actionsOnPage] = useState(pageActions)
  const chosenKeys = useChosenKeys()
  const [text, setText] = useState('')
  const query = text.trim()
  const [selected, setSelected] = useState('')
  const searchDevboxes = `search devboxes ${query}`
  // Results arrive after the search entry; Enter opens the first result unless the user chose another entry.
  const selectResult = (value: string) =>
    setSelected((current) => (current === '' || current === searchDevboxes ? value : current))
  const act = (action: () => void) => () => {
    onClose()
    action()
  }
  const go = (href: string) => act(() => router.push(href))
  return (
    <Command label="Command palette" loop value={selected} onValueChange={setSelected}>
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Search aria-hidden className="size-4 text-muted" />
        <Command.Input
          value={text}
          onValueChange={setText}
          placeholder="Search by name or id, or go to a page"
          className="h-12 flex-1 bg-transparent text-lg outline-none placeholder:text-muted"
        />
      </div>
      <Command.List className="max-h-[min(24rem,60dvh)] overflow-y-auto p-2">
        <Group heading="Go to">
          {useDestinations().map((destination) => (
            <Entry
              key={destination.href}
              icon={destination.icon}
              hint={<Keys keys={keyCaps(destinationKeys(destination, chosenKeys))} />}
              onSelect={go(destination.href)}
            >
              {destination.label}
            </Entry>
          ))}
          <Entry icon={History} onSelect={go(paths.evictionHistory())}>
            Eviction history
          </Entry>
          <Entry icon={ClipboardList} onSelect={go(paths.shiftReport())}>
            Shift report
          </Entry>
        </Group>
        {query !== '' && (
          // Mounted even without entries, to say why there are none.
          <Group heading="Find" forceMount>
            <Results query={query} onGo={go} onFirst={selectResult} />
            {kindOfId(query) === undefined && (
              <>
                <Entry
                  value={searchDevboxes}
                  icon={Search}
                  onSelect={go(paths.devboxes({ search: query.slice(0, 256) }))}
                >
                  Search devboxes for “{cutEnd(query, 60)}”
                </Entry>
                <Entry
                  value={`search axons ${query}`}
                  icon={Search}
                  onSelect={go(paths.axons({ search: query.slice(0, 256) }))}
                >
                  Search axons for “{cutEnd(query, 60)}”
                </Entry>
              </>
            )}
          </Group>
        )}
        {actionsOnPage.length > 0 && (
          <Group heading="On this page">
            {actionsOnPage.map(({ label, run }) => (
              <Entry key={label} value={`${label} on this page`} icon={Zap} onSelect={act(() => onceClosed(run))}>
                {label}
              </Entry>
            ))}
          </Group>
        )}
        {terminalActions.length > 0 && (
          <Group heading="Terminal">
            {terminalActions.map(({ label, icon, run }) => (
              <Entry key={label} icon={icon} onSelect={act(run)}>
                {label}
              </Entry>
            ))}
          </Group>
        )}
        <Group heading="Console">
          {themes.map((theme) => (
            <Entry key={theme} icon={themeLabels[theme].icon} onSelect={act(() => setTheme(theme))}>
              {themeLabels[theme].label}
            </Entry>
          ))}
          <Entry
            icon={Rows3}
            onSelect={act(() => applyPreference('density', chosen('density') === '' ? 'compact' : ''))}
          >
            {chosen('density') === '' ? 'Compact rows' : 'Comfortable rows'}
          </Entry>
          <Entry icon={Keyboard} hint={<Keys keys={useShortcutKeys('help.open')} />} onSelect={act(onHelp)}>
            Keyboard shortcuts
          </Entry>
          <Entry icon={UserPlus} onSelect={act(() => location.assign(paths.addAccount()))}>
            Add account
          </Entry>
          <Entry icon={LogOut} onSelect={act(() => signOut.mutate('own'))}>
            Sign out
          </Entry>
        </Group>
      </Command.List>
    </Command>
  )
}

interface ResultsProps {
  query: string
  onGo: (href: string) => () => void
  onFirst: (value: string) => void
}

/** Records that match by name or id, searched once typing pauses. */
const Results = ({ query, onGo, onFirst }: ResultsProps) => {
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(query), pauseMs)
    return () => clearTimeout(timer)
  }, [query])
  const { data } = useQuery({ ...recordSearch(settled), enabled: settled.length >= minLength })
  const found = settled === query ? data : undefined
  const entryValueOf = ({ kind, id }: SearchResult) => `${kind} ${id} ${query}`
  const [firstResult] = found?.results ?? []
  const first = firstResult && entryValueOf(firstResult)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per first result
  useEffect(() => {
    if (first) onFirst(first)
  }, [first])
  const kindOfQuery = kindOfId(query)
  if (query.length < minLength) return null
  if (!found)
    return (
      <p role="status" className={noteClasses}>
        {kindOfQuery ? `Looking for the ${kindOfQuery}` : 'Searching'}
      </p>
    )
  return (
    <>
      {found.results.length === 0 && found.failed.length === 0 && (
        <p role="status" className={noteClasses}>
          {kindOfQuery ? `This account has no ${kindOfQuery} with this id` : 'No records match'}
        </p>
      )}
      {found.results.map((result) => (
        <Entry
          key={result.id}
          value={entryValueOf(result)}
          icon={resultIcons[result.kind]}
          hint={<span className="text-sm text-muted">{result.kind}</span>}
          onSelect={onGo(result.href)}
        >
          <VisibleText max={80}>{result.name}</VisibleText>
        </Entry>
      ))}
      {found.partial.length > 0 && (
        <p className={noteClasses}>
          Only the newest {maxSearched} were searched: {found.partial.map(pluralOf).join(', ')}
        </p>
      )}
      {found.failed.length > 0 && (
        <p className={noteClasses}>
          Search failed, the service did not respond: {found.failed.map(pluralOf).join(', ')}
        </p>
      )}
    </>
  )
}

const pluralOf = (kind: ResultKind) => (kind.endsWith('x') ? `${kind}es` : `${kind}s`)
const noteClasses = 'px-2 py-1 text-sm text-muted'

/** Runs after the palette has restored focus, so that whatever `run` opens returns focus to the right button. */
const onceClosed = (run: () => void) => setTimeout(() => setTimeout(run))

const pauseMs = 150
const minLength = 2
const resultIcons: Record<ResultKind, LucideIcon> = {
  devbox: Box,
  axon: Waypoints,
  'benchmark job': Trophy,
  'benchmark run': ListChecks,
  benchmark: Layers,
  scenario: FlaskConical,
  'scenario run': FlaskRound,
  snapshot: Camera,
  blueprint: DraftingCompass,
  recording: Clapperboard,
}

const Group = ({ children, ...rest }: { heading: string; forceMount?: boolean; children: ReactNode }) => (
  <Command.Group
    {...rest}
    className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted"
  >
    {children}
  </Command.Group>
)

interface EntryProps {
  icon: LucideIcon
  hint?: ReactNode
  value?: string
  onSelect: () => void
  children: ReactNode
}

const Entry = ({ icon: Icon, hint, value, onSelect, children }: EntryProps) => (
  <Command.Item
    value={value}
    onSelect={onSelect}
    className="flex min-h-8 cursor-pointer items-center gap-2.5 rounded-md px-2 data-[selected=true]:bg-surface-2"
  >
    <Icon aria-hidden className="size-4 shrink-0 text-muted" />
    <span className="min-w-0 flex-1 truncate">{children}</span>
    {hint}
  </Command.Item>
)

const containers = 'main [data-page-actions], main section[aria-label^="Selected"]'

/** Actions of the current page: its header buttons, tabs and bulk actions. Running one clicks its button. */
const pageActions = () => {
  const actions = new Map<string, { label: string; run: () => void }>()
  for (const container of document.querySelectorAll(containers))
    for (const element of container.querySelectorAll<HTMLElement>('button, a[href]')) {
      const label = labelOf(element)
      if (label === '' || element.matches('[aria-disabled=true], [aria-current=page], :disabled')) continue
      if (!element.checkVisibility()) continue
      actions.set(label, { label, run: () => press(element) })
    }
  return [...actions.values()]
}

const labelOf = (element: HTMLElement): string => {
  const label = (element.getAttribute('aria-label') ?? element.textContent ?? '').trim()
  if (element.closest('nav')) return `${label} tab`
  return element.getAttribute('aria-haspopup') === 'menu' ? `${label} …` : label
}

const press = (element: HTMLElement): void => {
  element.focus()
  // Opening a menu by key focuses its first item.
  if (element.getAttribute('aria-haspopup') === 'menu')
    element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
  else element.click()
}

/** Terminal actions of the devbox shown on this page; empty on other pages. */
const useTerminalActions = () => {
  const devboxId = /^\/devboxes\/([A-Za-z0-9_-]+)(\/|$)/.exec(usePathname())?.[1] ?? ''
  const ask = useTerminalRequest(devboxId)
  const { data: runs } = useQuery(executionQueries.startedHere(devboxId))
  if (devboxId === '') return []
  const last = runs[0]?.command
  return [
    { label: 'Open terminal', icon: SquareTerminal, run: () => ask() },
    { label: 'New terminal tab', icon: Plus, run: () => ask('new-tab') },
    { label: 'Split terminal right', icon: Columns2, run: () => ask('split', 'right') },
    { label: 'Split terminal down', icon: Rows2, run: () => ask('split', 'down') },
    { label: 'Reset terminal', icon: RotateCcw, run: () => ask('reset') },
    ...(last === undefined
      ? []
      : [{ label: 'Send last command to terminal', icon: SendHorizontal, run: () => ask('prompt', last) }]),
  ]
}
