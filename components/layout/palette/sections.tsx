'use client'
import { useQuery } from '@tanstack/react-query'
import {
  ArrowLeftRight,
  BookOpen,
  CircleDot,
  ClipboardList,
  Columns2,
  History,
  Keyboard,
  LogOut,
  Plus,
  RotateCcw,
  Rows2,
  Rows3,
  SendHorizontal,
  SquareTerminal,
  SunMoon,
  Timer,
  Trash2,
  UserPlus,
  Zap,
} from 'lucide-react'
import { usePathname } from 'next/navigation'
import { useState, useSyncExternalStore } from 'react'
import { executionQueries } from '#components/commands/queries.ts'
import { useTerminalRequest } from '#components/terminal/workspace/use-terminal-layout.ts'
import { chosen } from '#components/ui/choice/browser-choice.ts'
import { type PaletteAction, pageActions } from '#components/ui/page-actions.tsx'
import { useRefusal } from '#components/ui/refusals.ts'
import { decodeSegment } from '#lib/browser/address/decode-segment.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { themes } from '#lib/browser/frame/preferences.ts'
import { keyCaps, useChosenKeys, useShortcutKeys } from '#lib/browser/frame/shortcuts.ts'
import { useSignOut, useSwitch } from '../account-menu.tsx'
import { Keys } from '../keys.tsx'
import { useDestinations, useSettingsDestinations } from '../navigation.ts'
import { sessionQueries } from '../session-queries.ts'
import { destinationKeys } from '../shortcuts.ts'
import { applyPreference, setTheme, themeLabels } from '../theme.tsx'
import type { PaletteEntry, PaletteSection } from './entries.ts'
import { type RecentThing, recentItems } from './recent.ts'
import type { ResultKind } from './record-search.ts'
import { Kind, resultIcons } from './search-results.tsx'

const maxRecentThings = 5
const maxRecentActions = 3
export const neverRecent = ['add-account', 'sign-out', 'forget']

export const useSections = (onHelp: () => void): PaletteSection[] => {
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
      heading: 'Recent',
      kind: 'recent' as const,
      // Records first, because Enter chooses the first entry.
      entries: [...things.slice(0, maxRecentThings), ...actions.slice(0, maxRecentActions)],
    },
    ...groups.map((group) => ({
      heading: group ?? 'On this page',
      kind: 'page' as const,
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

/** Terminal actions of the devbox shown on this page; empty on other pages. */
const useTerminalActions = () => {
  const devboxId = decodeSegment(/^\/devboxes\/([^/]+)/.exec(usePathname())?.[1] ?? '')
  const ask = useTerminalRequest(devboxId)
  const disabledReason = useRefusal('/api/terminals')
  const { data: runs } = useQuery(executionQueries.startedHere(devboxId))
  const newTab = useShortcutKeys('terminal.new-tab')
  const splitRight = useShortcutKeys('terminal.split-right')
  const splitDown = useShortcutKeys('terminal.split-down')
  if (devboxId === '') return []
  const last = runs[0]?.command
  return [
    { label: 'Open terminal', icon: SquareTerminal, run: () => ask() },
    { label: 'New terminal tab', icon: Plus, disabledReason, hint: <Keys keys={newTab} />, run: () => ask('new-tab') },
    {
      label: 'Split terminal right',
      icon: Columns2,
      disabledReason,
      hint: <Keys keys={splitRight} />,
      run: () => ask('split', 'right'),
    },
    {
      label: 'Split terminal down',
      icon: Rows2,
      disabledReason,
      hint: <Keys keys={splitDown} />,
      run: () => ask('split', 'down'),
    },
    { label: 'Reset terminal', icon: RotateCcw, disabledReason, run: () => ask('reset') },
    ...(last === undefined
      ? []
      : [
          {
            label: 'Send last command to terminal',
            icon: SendHorizontal,
            disabledReason,
            run: () => ask('prompt', last),
          },
        ]),
  ]
}
