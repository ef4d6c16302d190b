import { X } from 'lucide-react'
import Link from 'next/link'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { ActiveFilter } from '#lib/browser/lists/list-source.ts'

export const ActiveFilters = ({ filters, clearHref }: { filters: readonly ActiveFilter[]; clearHref: string }) =>
  filters.length > 0 && (
    <ul aria-label="Active filters" className="flex flex-wrap items-center gap-1.5">
      {filters.map(({ text, hrefWithout }) => (
        <li key={text} className="flex max-w-full min-w-0">
          <Link
            href={hrefWithout}
            scroll={false}
            prefetch={false}
            aria-label={`Remove the filter ${text}`}
            className="inline-flex h-6 max-w-full min-w-0 items-center gap-1 rounded-sm border border-line-strong bg-accent-soft px-1.5 font-mono text-xs hover:bg-surface-3"
          >
            <VisibleText truncate max={120}>
              {text}
            </VisibleText>
            <X aria-hidden className="size-3 shrink-0" />
          </Link>
        </li>
      ))}
      <li>
        <Link
          href={clearHref}
          scroll={false}
          prefetch={false}
          className="rounded-sm px-1 text-sm text-muted hover:text-text"
        >
          Clear filters
        </Link>
      </li>
    </ul>
  )
