import Link from 'next/link'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import { cutEnd } from './text.ts'
import { VisibleText } from './visible-text.tsx'

export interface MetadataChipsProps {
  metadata: Readonly<Record<string, string>>
  hrefFor?: (key: string, value: string) => string
  /** The page around handles clicks, so plain anchors suffice; a table has many. */
  isFollowed?: boolean
  max?: number
  empty?: ReactNode
}

/** With `max`, on one line: one chip in a narrow cell, otherwise up to `max`, and a count of the rest. */
export const MetadataChips = ({
  metadata,
  hrefFor,
  isFollowed = false,
  max = Number.POSITIVE_INFINITY,
  empty = null,
}: MetadataChipsProps) => {
  const pairs = Object.entries(metadata)
  if (pairs.length === 0) return empty
  const chip = ([key, value]: [string, string]) => (
    <Chip key={key} pair={[key, value]} href={hrefFor?.(key, value)} isFollowed={isFollowed} />
  )
  if (!Number.isFinite(max)) return <div className="flex min-w-0 flex-wrap items-center gap-1">{pairs.map(chip)}</div>
  return (
    <div className="@container" title={cutEnd(pairs.map(([key, value]) => `${key}=${value}`).join('\n'), 1000)}>
      <div className="flex min-w-0 items-center gap-1 [&>:nth-child(n+2):not([data-rest])]:hidden @3xs:[&>:nth-child(n+2):not([data-rest])]:inline-flex">
        {pairs.slice(0, max).map(chip)}
        <Rest count={pairs.length - 1} className="@3xs:hidden" />
        <Rest count={pairs.length - max} className="hidden @3xs:inline" />
      </div>
    </div>
  )
}

const Rest = ({ count, className }: { count: number; className: string }) =>
  count > 0 && (
    // `relative`: the sr-only text would otherwise widen a narrow page.
    <span data-rest className={classes('tabular relative shrink-0 px-1 text-xs text-muted', className)}>
      +{count}
      <span className="sr-only"> more</span>
    </span>
  )

interface ChipProps {
  pair: [string, string]
  href?: string
  isFollowed: boolean
}

const Chip = ({ pair: [key, value], href, isFollowed }: ChipProps) => {
  const title = cutEnd(`${key}=${value}`, 1000)
  const face = (
    <>
      <VisibleText max={80} className="max-w-40 shrink-0 truncate text-muted">
        {key}
      </VisibleText>
      =
      <VisibleText max={120} className="max-w-56 min-w-0 truncate">
        {value}
      </VisibleText>
    </>
  )
  const shape =
    'inline-flex h-6 max-w-full min-w-0 items-center overflow-hidden rounded-sm border border-line bg-surface-1 px-1.5 font-mono text-xs'
  if (!href)
    return (
      <span title={title} className={shape}>
        {face}
      </span>
    )
  const link = {
    href,
    title: `Filter by ${title}`,
    className: `${shape} hover:border-line-strong hover:bg-surface-2`,
    children: face,
  }
  return isFollowed ? <a {...link} /> : <Link {...link} prefetch={false} />
}
