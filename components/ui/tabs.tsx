'use client'
import Link from 'next/link'
import { useLayoutEffect, useRef } from 'react'
import { classes } from './classes.ts'
import { LinkPending } from './link-pending.tsx'
import { usePaletteActions } from './page-actions.tsx'

export interface Tab {
  id: string
  label: string
  href: string
}

export interface TabsProps {
  label: string
  tabs: readonly Tab[]
  current: string
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

/** Tabs are links, so that each has an address. */
export const Tabs = ({ label, tabs, current }: TabsProps) => {
  const strip = useRef<HTMLElement>(null)
  usePaletteActions(() => [{ label: `Go to ${lowerFirst(label)} tab`, items: tabs.filter(({ id }) => id !== current) }])
  // On a narrow page only some tabs fit; scroll to the current one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the current tab changes
  useLayoutEffect(() => {
    const tab = strip.current?.querySelector('[aria-current=page]')
    if (strip.current && tab instanceof HTMLElement)
      strip.current.scrollLeft = tab.offsetLeft - (strip.current.clientWidth - tab.offsetWidth) / 2
  }, [current])
  return (
    <nav
      ref={strip}
      aria-label={label}
      data-page-actions
      className="relative -mx-1 flex gap-1 overflow-x-auto border-b border-line px-1"
    >
      {tabs.map(({ id, label, href }) => (
        <Link
          prefetch={false}
          key={id}
          href={href}
          scroll={false}
          aria-current={id === current ? 'page' : undefined}
          className={classes(
            '-mb-px inline-flex h-9 shrink-0 items-center gap-1.5 border-b-2 px-2 font-medium -outline-offset-2',
            id === current
              ? 'border-accent text-text'
              : 'border-transparent text-muted hover:border-line-strong hover:text-text',
          )}
        >
          {label}
          <LinkPending />
        </Link>
      ))}
    </nav>
  )
}
