'use client'
import { useQuery } from '@tanstack/react-query'
import { Command } from 'cmdk'
import type { LucideIcon } from 'lucide-react'
import {
  ArrowLeftRight,
  BookOpen,
  Box,
  Camera,
  ChevronRight,
  CircleDot,
  Clapperboard,
  ClipboardList,
  Columns2,
  DraftingCompass,
  FileText,
  FlaskConical,
  FlaskRound,
  History,
  Keyboard,
  KeyRound,
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
  SunMoon,
  Timer,
  Trash2,
  Trophy,
  UserPlus,
  Waypoints,
  Zap,
} from 'lucide-react'
import { usePathname, useRouter } from 'next/navigation'
import { Dialog } from 'radix-ui'
import { type KeyboardEvent, type ReactNode, useDeferredValue, useEffect, useState, useSyncExternalStore } from 'react'
import { executionQueries } from '#components/commands/queries.ts'
import { useTerminalRequest } from '#components/terminal/workspace/use-terminal-layout.ts'
import { chosen } from '#components/ui/choice/browser-choice.ts'
import { classes } from '#components/ui/classes.ts'
import { Modal } from '#components/ui/dialog.tsx'
import { type PaletteAction, pageActions } from '#components/ui/page-actions.tsx'
import { cutEnd } from '#components/ui/text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { decodeSegment } from '#lib/browser/address/decode-segment.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { themes } from '#lib/browser/frame/preferences.ts'
import { keyCaps, useChosenKeys, useShortcutKeys } from '#lib/browser/frame/shortcuts.ts'
import type { DocSection } from '#lib/protocol/docs.ts'
import { useSignOut, useSwitch } from '../account-menu.tsx'
import { Keys } from '../keys.tsx'
import { useDestinations, useSettingsDestinations } from '../navigation.ts'
import { sessionQueries } from '../session-queries.ts'
import { destinationKeys } from '../shortcuts.ts'
import { applyPreference, setTheme, themeLabels } from '../theme.tsx'
import { docsQuery, excerptOf, findDocs } from './docs-search.ts'
import { findEntries, type PaletteEntry, rankOf } from './entries.ts'
import { type RecentThing, recentItems } from './recent.ts'
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

interface Section {
  heading: string
  isOnPage?: boolean
  entries: readonly PaletteEntry[]
  notes?: readonly string[]
}

const Commands = ({ onClose, onHelp }: CommandPaletteProps) => {
  const router = useRouter()
  const [text, setText] = useState('')
  const query = text.trim()
  /** Entries whose pages are open, the last one in view. */
  const [opened, setOpened] = useState<readonly PaletteEntry[]>([])
  const page = opened.at(-1)
  const sections = useSections(onHelp)
  const found = useResults(page ? '' : query)
  const docs = useDocs(query)
  const shown = page
    ? [{ heading: page.label, entries: query === '' ? (page.items ?? []) : findEntries(page.items ?? [], query) }]
    : query === ''
      ? sections
      : searchSections(sections, query, found, docs)

  const entries = shown.flatMap((section) => section.entries)
  // The first entry, whatever arrives, until the user has chosen one.
  const [picked, setPicked] = useState<string>()
  const selected = entries.find(({ key }) => key === picked) ?? entries[0]

  const openPage = (pages: readonly PaletteEntry[]) => {
    setOpened(pages)
    setText('')
    setPicked(undefined)
  }
  const choose = (entry: PaletteEntry) => {
    const { items, run, href, disabledReason } = entry
    if (disabledReason) return
    if (items) return openPage([...opened, entry])
    onClose()
    if (run && !neverRecent.includes(entry.key)) recentItems.add({ action: entry.key.replace(/^recent /, '') })
    // After the palette has returned the focus, so that what opens returns it to the right element.
    if (run) setTimeout(() => setTimeout(run))
    if (href !== undefined) router.push(href)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const goesBack = event.key === 'Escape' || (event.key === 'Backspace' && text === '')
    if (!page || !goesBack) return
    event.preventDefault()
    event.stopPropagation()
    openPage(opened.slice(0, -1))
  }
  return (
    <Command
      label="Command palette"
      loop
      shouldFilter={false}
      value={selected?.key ?? ''}
      // cmdk also reports the first entry of each list, which is no choice of the user.
      onValueChange={(key) => setPicked(key === entries[0]?.key ? undefined : key)}
    >
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Search aria-hidden className="size-4 shrink-0 text-muted" />
        {opened.map(({ key, label }) => (
          <span key={key} className="flex min-w-0 shrink-0 items-center gap-1 text-muted">
            {label} <ChevronRight aria-hidden className="size-3.5" />
          </span>
        ))}
        <Command.Input
          value={text}
          onValueChange={(next) => {
            setText(next)
            setPicked(undefined)
          }}
          onKeyDown={onKeyDown}
          data-takes-escape={page ? '' : undefined}
          aria-description={page ? `${page.label}. Backspace goes back` : undefined}
          placeholder={page ? 'Search' : 'Search by name or id, or run an action'}
          className="h-12 min-w-0 flex-1 bg-transparent text-lg outline-none placeholder:text-muted"
        />
      </div>
      <Command.List className="max-h-[min(26rem,60dvh)] scroll-py-2 overflow-y-auto p-2">
        {shown.map(({ heading, entries, notes = [] }) => (
          <Group key={heading} heading={heading}>
            {entries.map((entry) => (
              <Entry key={entry.key} entry={entry} onSelect={() => choose(entry)} />
            ))}
            {notes.map((note) => (
              <p key={note} role="status" className="px-2 py-1 text-sm text-muted">
                {note}
              </p>
            ))}
          </Group>
        ))}
        {entries.length === 0 && page && (
          <p role="status" className="px-2 py-1 text-sm text-muted">
            No matches
          </p>
        )}
      </Command.List>
    </Command>
  )
}

/** Records come first, then pages, unless the text is how a page or an action of this page is named. */
const searchSections = (
  sections: readonly Section[],
  query: string,
  found: Section,
  docs: readonly PaletteEntry[],
): Section[] => {
  const ranked = sections
    .filter(({ heading }) => heading !== recentHeading)
    .map(({ entries, ...section }) => ({ ...section, entries: findEntries(entries, query) }))
  const isNamed = ({ isOnPage, entries }: (typeof ranked)[number]) => (entries[0]?.rank ?? 0) >= (isOnPage ? 3 : 4)
  const named = ranked.filter(isNamed)
  return [
    ...named,
    ...(found.entries.length > 0 ? [found] : []),
    ...ranked.filter((section) => !named.includes(section)),
    { heading: 'Docs', entries: docs },
    { heading: 'Lists', entries: listSearches(query) },
    ...(found.entries.length > 0 ? [] : [found]),
  ].filter(({ entries, ...section }) => entries.length > 0 || 'notes' in section)
}

const listSearches = (query: string): PaletteEntry[] => {
  if (kindOfId(query) !== undefined) return []
  const search = query.slice(0, 256)
  return [
    { kind: 'devboxes', href: paths.devboxes({ search }) },
    { kind: 'axons', href: paths.axons({ search }) },
  ].map(({ kind, href }) => ({
    key: `search ${kind}`,
    label: `Search ${kind} for “${cutEnd(query, 60)}”`,
    icon: Search,
    href,
  }))
}

const recentHeading = 'Recent'
const pageHeading = 'On this page'
const maxRecentThings = 5
const maxRecentActions = 3
const neverRecent = ['add-account', 'sign-out', 'forget']

const useSections = (onHelp: () => void): Section[] => {
  const pathname = usePathname()
  const chosenKeys = useChosenKeys()
  const helpKeys = useShortcutKeys('help.open')
  const signOut = useSignOut()
  const switchTo = useSwitch()
  const others = useQuery({ ...sessionQueries.get(), enabled: false }).data?.others ?? []
  const destinations = useDestinations()
  const settingsPages = useSettingsDestinations()
  const terminalActions = useTerminalActions()
  const actionsOnPage = useSyncExternalStore(pageActions.subscribe, pageActions.read, pageActions.read)
  const [recent] = useState(recentItems.read)
  const onPage = actionsOnPage.map((action) => entryOfAction(action))
  const groups = [...new Set(actionsOnPage.map(({ group }) => group))].sort(
    (one, other) => Number(one === undefined) - Number(other === undefined),
  )
  const terminal = terminalActions.map((action) => ({ key: `terminal ${action.label}`, ...action }))
  const pages: PaletteEntry[] = [
    ...destinations.map((each) => ({
      key: `go ${each.href}`,
      label: each.label,
      icon: each.icon,
      hint: <Keys keys={keyCaps(destinationKeys(each, chosenKeys))} />,
      href: each.href,
    })),
    ...settingsPages.map(({ label, icon, href }) => ({ key: `go ${href}`, label, keywords: 'settings', icon, href })),
    { key: 'go history', label: 'Eviction history', icon: History, href: paths.evictionHistory() },
    { key: 'go report', label: 'Shift report', icon: ClipboardList, href: paths.shiftReport() },
    { key: 'go docs', label: 'Docs', icon: BookOpen, href: paths.docs() },
    {
      key: 'go shortcuts',
      label: 'Change shortcuts',
      keywords: 'keyboard keys',
      icon: Keyboard,
      href: paths.shortcuts(),
    },
  ]
  const isComfortable = chosen('density') === ''
  const console: PaletteEntry[] = [
    {
      key: 'theme',
      label: 'Change theme',
      icon: SunMoon,
      items: themes.map((theme) => ({ key: `theme ${theme}`, ...themeLabels[theme], run: () => setTheme(theme) })),
    },
    {
      key: 'density',
      label: isComfortable ? 'Compact rows' : 'Comfortable rows',
      icon: Rows3,
      run: () => applyPreference('density', isComfortable ? 'compact' : ''),
    },
    {
      key: 'help',
      label: 'Keyboard shortcuts',
      icon: Keyboard,
      hint: <Keys keys={helpKeys} />,
      run: onHelp,
    },
    ...(others.length > 0
      ? [
          {
            key: 'switch',
            label: 'Switch account',
            icon: ArrowLeftRight,
            items: others.map(({ id, name }) => ({
              key: `switch ${id}`,
              label: name.slice(0, 60),
              icon: ArrowLeftRight,
              run: () => switchTo.mutate(id),
            })),
          },
        ]
      : []),
    { key: 'add-account', label: 'Add account', icon: UserPlus, run: () => location.assign(paths.addAccount()) },
    { key: 'sign-out', label: 'Sign out', icon: LogOut, run: () => signOut.mutate('own') },
  ]
  const runnable = [...onPage, ...terminal, ...console].flatMap((entry: PaletteEntry) => [
    entry,
    ...(entry.items ?? []),
  ])
  const isHere = (href: string) => pathname === href || pathname.startsWith(`${href}/`)
  const things = recent.flatMap((item) => ('action' in item || isHere(item.href) ? [] : [entryOfThing(item)]))
  // Those that are possible on this page.
  const actions = recent.flatMap((item): PaletteEntry[] => {
    const entry = 'action' in item && runnable.find(({ key }) => key === item.action)
    return entry ? [{ ...entry, key: `recent ${entry.key}` }] : []
  })
  return [
    {
      heading: recentHeading,
      // Things first, as Enter chooses the first entry.
      entries: [...things.slice(0, maxRecentThings), ...actions.slice(0, maxRecentActions)],
    },
    ...groups.map((group) => ({
      heading: group ?? pageHeading,
      isOnPage: true,
      entries: onPage.filter((_, at) => actionsOnPage[at]?.group === group),
    })),
    { heading: 'Terminal', entries: terminal },
    { heading: 'Go to', entries: pages },
    {
      heading: 'Console',
      entries:
        recent.length > 0
          ? [...console, { key: 'forget', label: 'Clear recent items', icon: Trash2, run: () => recentItems.clear() }]
          : console,
    },
  ].filter(({ entries }) => entries.length > 0)
}

const entryOfAction = (action: PaletteAction, within = 'page'): PaletteEntry => {
  const key = `${within} ${action.label}`
  const icon = action.icon ?? (action.items || action.href !== undefined ? undefined : Zap)
  return { ...action, key, icon, items: action.items?.map((item) => entryOfAction(item, `${key} ›`)) }
}

const entryOfThing = ({ kind, id, name, href }: RecentThing): PaletteEntry => ({
  key: `recent ${id}`,
  label: name,
  icon: resultIcons[kind as ResultKind] ?? (kind === 'alert' ? Timer : CircleDot),
  hint: <Kind>{kind}</Kind>,
  href,
})

const Kind = ({ children }: { children: ReactNode }) => <span className="shrink-0 text-sm text-muted">{children}</span>

/** Records that match by name or id, searched once typing pauses. */
const useResults = (query: string): Section => {
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(query), pauseMs)
    return () => clearTimeout(timer)
  }, [query])
  const { data } = useQuery({ ...recordSearch(settled), enabled: settled.length >= minLength })
  const found = settled === query ? data : undefined
  const heading = 'Find'
  const kindOfQuery = kindOfId(query)
  if (query.length < minLength) return { heading, entries: [] }
  if (!found) return { heading, entries: [], notes: [kindOfQuery ? `Looking for the ${kindOfQuery}` : 'Searching'] }
  const { results, failed, partial } = found
  const isEmpty = results.length === 0 && failed.length === 0
  return {
    heading,
    entries: results.map(entryOfResult),
    notes: [
      isEmpty && (kindOfQuery ? `This account has no ${kindOfQuery} with this id` : 'No records match'),
      partial.length > 0 && `Only the newest ${maxSearched} were searched: ${partial.map(pluralOf).join(', ')}`,
      failed.length > 0 && `Search failed, the service did not respond: ${failed.map(pluralOf).join(', ')}`,
    ].filter((note) => note !== false),
  }
}

const entryOfResult = ({ kind, id, name, href, isOfTrial }: SearchResult): PaletteEntry => ({
  key: `${kind} ${id}`,
  label: name,
  icon: resultIcons[kind],
  hint: <Kind>{isOfTrial ? 'devbox of a trial' : kind}</Kind>,
  href,
})

const maxDocs = 4

const useDocs = (query: string): PaletteEntry[] => {
  const wanted = useDeferredValue(query)
  const { data } = useQuery({ ...docsQuery(), enabled: wanted.length >= minLength })
  if (!data || wanted.length < minLength) return []
  return findDocs(data.sections, wanted, maxDocs).map((section) => entryOfDoc(section, wanted))
}

const entryOfDoc = ({ page, page_title, anchor, heading, text }: DocSection, query: string): PaletteEntry => ({
  key: `doc ${page} ${anchor}`,
  label: heading,
  trail: anchor === '' ? undefined : [page_title],
  detail: rankOf(heading, query) > 0 ? undefined : excerptOf(text, query),
  icon: FileText,
  href: paths.doc(page, anchor),
})

const pluralOf = (kind: ResultKind) => (kind.endsWith('x') ? `${kind}es` : `${kind}s`)

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
  secret: KeyRound,
}

const Group = ({ children, heading }: { heading: string; children: ReactNode }) => (
  <Command.Group
    heading={heading}
    className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted"
  >
    {children}
  </Command.Group>
)

const Entry = ({ entry, onSelect }: { entry: PaletteEntry; onSelect: () => void }) => {
  const { key, label, icon: Icon = ChevronRight, hint, trail = [], disabledReason, items, detail } = entry
  return (
    <Command.Item
      value={key}
      onSelect={onSelect}
      className={classes(
        'flex min-h-8 items-center gap-2.5 rounded-md px-2 py-1 data-[selected=true]:bg-surface-2',
        disabledReason ? 'cursor-not-allowed text-muted' : 'cursor-pointer',
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="min-w-0 flex-1 truncate">
        {trail.map((each) => (
          <span key={each} className="text-muted">
            {each} <span aria-hidden>› </span>
          </span>
        ))}
        <VisibleText max={80}>{label}</VisibleText>
        {items && ' …'}
        {(disabledReason || detail) && (
          <span className="block truncate text-xs text-muted">{disabledReason || detail}</span>
        )}
      </span>
      {hint}
    </Command.Item>
  )
}

/** Terminal actions of the devbox shown on this page; empty on other pages. */
const useTerminalActions = () => {
  const devboxId = decodeSegment(/^\/devboxes\/([^/]+)/.exec(usePathname())?.[1] ?? '')
  const ask = useTerminalRequest(devboxId)
  const { data: runs } = useQuery(executionQueries.startedHere(devboxId))
  const newTab = useShortcutKeys('terminal.new-tab')
  const splitRight = useShortcutKeys('terminal.split-right')
  const splitDown = useShortcutKeys('terminal.split-down')
  if (devboxId === '') return []
  const last = runs[0]?.command
  return [
    { label: 'Open terminal', icon: SquareTerminal, run: () => ask() },
    { label: 'New terminal tab', icon: Plus, hint: <Keys keys={newTab} />, run: () => ask('new-tab') },
    {
      label: 'Split terminal right',
      icon: Columns2,
      hint: <Keys keys={splitRight} />,
      run: () => ask('split', 'right'),
    },
    { label: 'Split terminal down', icon: Rows2, hint: <Keys keys={splitDown} />, run: () => ask('split', 'down') },
    { label: 'Reset terminal', icon: RotateCcw, run: () => ask('reset') },
    ...(last === undefined
      ? []
      : [{ label: 'Send last command to terminal', icon: SendHorizontal, run: () => ask('prompt', last) }]),
  ]
}
