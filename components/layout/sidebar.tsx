'use client'
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { classes } from '#components/ui/classes.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { LinkPending } from '#components/ui/link-pending.tsx'
import { Tooltip } from '#components/ui/tooltip.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { Mark } from './brand.tsx'
import { type Destination, isWithin, useDestinations } from './navigation.ts'

export interface SidebarProps {
  collapsed: boolean
  onCollapse: (collapsed: boolean) => void
}

export const Sidebar = ({ collapsed, onCollapse }: SidebarProps) => (
  <aside
    aria-label="Sidebar"
    className={classes(
      'sticky top-0 hidden h-dvh shrink-0 flex-col border-r border-line bg-surface-1 md:flex',
      collapsed ? 'w-14' : 'w-56',
    )}
  >
    <div className={classes('flex h-12 items-center', collapsed ? 'justify-center' : 'px-3')}>
      <Home collapsed={collapsed} />
    </div>
    <NavigationLinks collapsed={collapsed} />
    <div className={classes('mt-auto p-2', collapsed && 'flex justify-center')}>
      <IconButton
        icon={collapsed ? PanelLeftOpen : PanelLeftClose}
        label={collapsed ? 'Expand sidebar' : 'Collapse sidebar'}
        onClick={() => onCollapse(!collapsed)}
      />
    </div>
  </aside>
)

export const Home = ({ collapsed }: { collapsed?: boolean }) => (
  <Link
    href={paths.overview()}
    prefetch={false}
    className="flex items-center gap-2 rounded-md text-lg font-semibold tracking-tight"
  >
    <Mark className="size-6" />
    <span className={collapsed ? 'sr-only' : undefined}>Devdeck</span>
  </Link>
)

export const NavigationLinks = ({ collapsed, onFollow }: { collapsed?: boolean; onFollow?: () => void }) => {
  const pathname = usePathname()
  const destinations = useDestinations()
  return (
    <nav aria-label="Main" className="px-2 py-2">
      <ul className="space-y-0.5">
        {destinations.map((destination) => (
          <li key={destination.href} className={destination.startsGroup ? 'pt-3' : undefined}>
            <NavigationLink
              {...destination}
              collapsed={collapsed}
              isCurrent={isWithin(pathname, destination.href)}
              onFollow={onFollow}
            />
          </li>
        ))}
      </ul>
    </nav>
  )
}

interface NavigationLinkProps extends Destination {
  collapsed?: boolean
  isCurrent: boolean
  onFollow?: () => void
}

const NavigationLink = ({ label, href, icon: Icon, collapsed, isCurrent, onFollow }: NavigationLinkProps) => {
  const link = (
    <Link
      href={href}
      // Pages are dynamic, so a prefetch would only be repeated.
      prefetch={false}
      onClick={onFollow}
      aria-current={isCurrent ? 'page' : undefined}
      className={classes(
        'flex h-8 items-center gap-2.5 rounded-md font-medium transition-colors',
        collapsed ? 'justify-center' : 'px-2',
        isCurrent ? 'bg-surface-3 text-text' : 'text-muted hover:bg-surface-2 hover:text-text',
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0" strokeWidth={isCurrent ? 2.25 : 2} />
      <span className={collapsed ? 'sr-only' : undefined}>{label}</span>
      {!collapsed && <LinkPending />}
    </Link>
  )
  return collapsed ? (
    <Tooltip content={label} side="right">
      {link}
    </Tooltip>
  ) : (
    link
  )
}
