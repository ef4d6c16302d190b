'use client'
import { useQuery } from '@tanstack/react-query'
import { ChevronRight, Menu, Search, ShieldAlert } from 'lucide-react'
import dynamic from 'next/dynamic'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { Fragment, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { AlertAnnouncer } from '#components/alerts/alert-announcer.tsx'
import { ConsoleOutageBanner, useConsoleOutage } from '#components/alerts/console-outage.tsx'
import { PollingBanner, ReceiverBadge, StreamStatus } from '#components/alerts/header-status.tsx'
import { HandOverAnnouncer } from '#components/alerts/people/hand-overs.tsx'
import { NamePrompt } from '#components/alerts/people/name-prompt.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { clusterQueries } from '#components/cluster/queries.ts'
import { useFirstRunMarks } from '#components/overview/first-run-steps.ts'
import { supportQueries } from '#components/settings/support-queries.ts'
import { Banner } from '#components/ui/banner.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { shortenMiddle } from '#components/ui/text.ts'
import { formatExact } from '#components/ui/time-text.ts'
import { usePrinting } from '#components/ui/use-printing.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { decodeSegment } from '#lib/browser/address/decode-segment.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { setPageAccount } from '#lib/browser/api/page-account.ts'
import { useShortcutKeys } from '#lib/browser/frame/shortcuts.ts'
import { readTab, writeTab } from '#lib/browser/frame/tab-storage.ts'
import { serviceNow } from '#lib/client/clock.ts'
import type { ClusterView } from '#lib/protocol/cluster.ts'
import type { SessionView } from '#lib/protocol/session.ts'
import type { ServiceSupport } from '#lib/protocol/support.ts'
import { AccountChanged } from './account-changed.tsx'
import { AccountMenu, AccountName } from './account-menu.tsx'
import { Keys } from './keys.tsx'
import { destinations, settingsDestinations } from './navigation.ts'
import { OperationRefusals } from './operation-refusals.tsx'
import { usePageName } from './page-name.tsx'
import { PlannedStopBanner } from './planned-stop.tsx'
import { hasChangedElsewhere, savePreference } from './save-preference.ts'
import { sessionQueries } from './session-queries.ts'
import { useShortcuts } from './shortcuts.ts'
import { Sidebar } from './sidebar.tsx'
import { ThemeMenu } from './theme.tsx'

const AlertBar = dynamic(() => import('#components/alerts/alert-bar.tsx').then((module) => module.AlertBar))
const AlertBadge = dynamic(() => import('#components/alerts/alert-bar.tsx').then((module) => module.AlertBadge))
const NavigationDrawer = dynamic(() => import('./navigation-drawer.tsx').then((module) => module.NavigationDrawer))
const CommandPalette = dynamic(() => import('./palette/command-palette.tsx').then((module) => module.CommandPalette))
const ShortcutsDialog = dynamic(() => import('./shortcuts-dialog.tsx').then((module) => module.ShortcutsDialog))

/** Address and time at the end of a printed page. */
const PrintedAddress = () =>
  usePrinting() && (
    <p className="mt-8 border-t border-line pt-2 break-all text-muted">
      {location.href}, printed {formatExact(serviceNow())}
    </p>
  )

export interface ConsoleFrameProps {
  session: SessionView
  cluster: ClusterView | undefined
  support: ServiceSupport | undefined
  sidebarCollapsed: boolean
  isolationNoticeSeen: boolean
  children: ReactNode
}

export const ConsoleFrame = ({
  session,
  cluster,
  support,
  sidebarCollapsed,
  isolationNoticeSeen,
  children,
}: ConsoleFrameProps) => {
  useQuery({ ...sessionQueries.get(), initialData: session })
  useQuery({ ...clusterQueries.known(), initialData: cluster })
  // Read again while the console was still probing.
  useQuery({
    ...supportQueries.current(),
    initialData: support,
    ...(support?.is_complete ? {} : { initialDataUpdatedAt: 0 }),
  })
  // During render, because children call the console from their first effect.
  setPageAccount(session.account.id)
  const [collapsed, setCollapsed] = useState(sidebarCollapsed)
  const [opened, setOpened] = useState<'palette' | 'help' | 'navigation' | null>(null)
  const top = useRef<HTMLDivElement>(null)
  const close = () => setOpened(null)
  const { hasAlerts, barCollapsed, collapseBar, isPolled, failingReceivers } = useAlertBar()
  const outageMs = useConsoleOutage()
  const pathname = usePathname()
  useShortcuts(setOpened, opened !== null)
  useFirstRunMarks(session.account.id, pathname)
  useFrameTop(top)
  useReloadOnPreferenceChange(pathname)
  useFocusAfterNavigation(pathname)
  const collapse = (next: boolean) => {
    setCollapsed(next)
    savePreference('sidebar', next ? 'collapsed' : 'expanded')
  }
  return (
    <OperationRefusals>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-overlay focus:px-3 focus:py-2 focus:shadow-overlay"
      >
        Skip to content
      </a>
      <div className="flex min-h-dvh">
        <Sidebar collapsed={collapsed} onCollapse={collapse} />
        <div className="flex min-w-0 flex-1 flex-col">
          <div ref={top} data-frame-top className="sticky top-0 z-20">
            <header className="flex h-12 items-center gap-1 border-b border-line bg-surface-0 px-3 md:px-6">
              <IconButton
                icon={Menu}
                label="Open navigation"
                onClick={() => setOpened('navigation')}
                className="-ml-1 md:hidden"
              />
              <Breadcrumb />
              <div className="ml-auto flex shrink-0 items-center gap-1">
                <PaletteButton onClick={() => setOpened('palette')} />
                {failingReceivers.length > 0 && <ReceiverBadge failing={failingReceivers} />}
                {hasAlerts && barCollapsed && <AlertBadge onExpand={() => collapseBar(false)} />}
                <span className="mx-1.5">
                  <StreamStatus />
                </span>
                <ThemeMenu />
                <AccountName session={session} />
                <AccountMenu session={session} onHelp={() => setOpened('help')} />
              </div>
            </header>
            {hasAlerts && !barCollapsed && <AlertBar onCollapse={() => collapseBar(true)} />}
            {isPolled && <PollingBanner />}
            {outageMs !== null && <ConsoleOutageBanner sinceMs={outageMs} />}
            <PlannedStopBanner />
            <AccountChanged name={session.account.name} />
          </div>
          {session.account.isolation === 'none' && !isolationNoticeSeen && <IsolationNotice />}
          <main id="content" tabIndex={-1} className="w-full max-w-[100rem] flex-1 px-4 py-5 outline-none md:px-6">
            {children}
            <PrintedAddress />
          </main>
        </div>
      </div>
      <NamePrompt />
      <AlertAnnouncer account={session.account.id} />
      <HandOverAnnouncer account={session.account.id} />
      {opened === 'navigation' && <NavigationDrawer onClose={close} />}
      {opened === 'palette' && <CommandPalette onClose={close} onHelp={() => setOpened('help')} />}
      {opened === 'help' && <ShortcutsDialog onClose={close} />}
    </OperationRefusals>
  )
}

/** Shown once per browser session; the account menu always shows a badge. */
const IsolationNotice = () => {
  const [isShown, setIsShown] = useState(true)
  if (!isShown) return null
  const dismiss = () => {
    savePreference('isolationNotice', 'seen')
    setIsShown(false)
  }
  return (
    <section aria-label="Isolation">
      <Banner
        tone="attention"
        icon={ShieldAlert}
        className="border-x-0 border-t-0 md:px-6"
        title="Devboxes are not isolated from this machine."
        onDismiss={dismiss}
      >
        Their processes have the same access as the service's user. To isolate them, install bubblewrap and slirp4netns
        and restart the service, or start it with --isolation container, which requires a container engine.
      </Banner>
    </section>
  )
}

const barKey = 'devdeck.eviction-bar'

/** Each tab remembers whether its alert bar is collapsed; the server always renders it expanded. */
const useAlertBar = () => {
  const { data: feed } = useQuery(alertQueries.feed())
  const [barCollapsed, setBarCollapsed] = useState(false)
  useEffect(() => setBarCollapsed(readTab(barKey) === 'collapsed'), [])
  const collapseBar = (next: boolean) => {
    setBarCollapsed(next)
    writeTab(barKey, next ? 'collapsed' : 'expanded')
  }
  const { open, health, failingReceivers } = feed
  return {
    hasAlerts: open.length > 0,
    barCollapsed,
    collapseBar,
    isPolled: health.state === 'polled',
    failingReceivers,
  }
}

const PaletteButton = ({ onClick }: { onClick: () => void }) => (
  <button
    type="button"
    title="Open the command palette"
    onClick={onClick}
    className="flex h-8 items-center gap-2 rounded-md px-2 text-muted hover:bg-surface-2 hover:text-text lg:w-64 lg:border lg:border-line lg:bg-surface-1"
  >
    <Search aria-hidden className="size-4 lg:size-3.5" />
    <span className="flex-1 text-left max-lg:sr-only">Search or go to</span>
    <span aria-hidden className="hidden lg:block">
      <Keys keys={useShortcutKeys('palette.open')} />
    </span>
  </button>
)

/** Reloads on the next navigation, so that one page never mixes two time zones. */
const useReloadOnPreferenceChange = (pathname: string) =>
  // biome-ignore lint/correctness/useExhaustiveDependencies: checked once per page
  useEffect(() => {
    if (hasChangedElsewhere()) location.reload()
  }, [pathname])

/** Focuses the content when navigation removed the focused link. */
const useFocusAfterNavigation = (pathname: string) => {
  const previous = useRef(pathname)
  useEffect(() => {
    if (previous.current === pathname) return
    previous.current = pathname
    if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true })
  }, [pathname])
}

/** Publishes the header's height for sticky elements below it; banners change it. */
const useFrameTop = (top: RefObject<HTMLElement | null>) =>
  useEffect(() => {
    if (!top.current) return
    const observer = new ResizeObserver(([entry]) => {
      const height = entry?.borderBoxSize[0]?.blockSize
      if (height !== undefined) document.documentElement.style.setProperty('--frame-top', `${height}px`)
    })
    observer.observe(top.current)
    return () => observer.disconnect()
  }, [top])

const Breadcrumb = () => {
  const pathname = usePathname()
  const { parents, id } = locate(pathname)
  const name = usePageName(id)
  const crumbs = id ? [...parents, { label: name ?? shortenMiddle(id, 18), href: pathname }] : parents
  return (
    <nav aria-label="Breadcrumb" className="min-w-0">
      <ol className="flex min-w-0 items-center gap-1">
        {crumbs.map(({ label, href }, index) => {
          const isLast = index === crumbs.length - 1
          const isDistant = index < crumbs.length - 2
          return (
            <Fragment key={href}>
              {index > 0 && (
                <li aria-hidden className={index === crumbs.length - 2 ? 'hidden sm:block' : undefined}>
                  <ChevronRight className="size-3.5 text-muted" />
                </li>
              )}
              <li className={isLast ? 'min-w-0 truncate' : isDistant ? 'hidden shrink-0 sm:block' : 'shrink-0'}>
                {isLast ? (
                  <span aria-current="page" className={id ? 'text-muted' : 'font-medium'}>
                    <VisibleText max={60} mono={id !== undefined && name === undefined}>
                      {label}
                    </VisibleText>
                  </span>
                ) : (
                  <Link href={href} prefetch={false} className="rounded-sm text-muted hover:text-text">
                    {label}
                  </Link>
                )}
              </li>
            </Fragment>
          )
        })}
      </ol>
    </nav>
  )
}

/** Sections of the breadcrumb; every other segment is an id. */
const sections: { label: string; href: string }[] = [
  ...destinations,
  ...settingsDestinations,
  { label: 'History', href: paths.evictionHistory() },
  { label: 'Shift report', href: paths.shiftReport() },
  { label: 'Side by side', href: paths.sideBySide() },
  { label: 'Keyboard shortcuts', href: paths.shortcuts() },
  { label: 'Service', href: paths.service() },
  { label: 'Docs', href: paths.docs() },
]

const locate = (pathname: string) => {
  const parents = sections
    .filter(({ href }) => pathname === href || (href !== '/' && pathname.startsWith(`${href}/`)))
    .map(({ label, href }) => ({ label, href }))
    .sort((a, b) => a.href.length - b.href.length)
  const deepest = parents.at(-1)
  return {
    parents,
    id: (deepest && decodeSegment(pathname.slice(deepest.href.length + 1).split('/')[0] ?? '')) || undefined,
  }
}
