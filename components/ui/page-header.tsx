import { ArrowLeft } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { CopyableId } from './copyable-id.tsx'

export interface PageHeaderProps {
  title: ReactNode
  /** Shown whole beside a copy button. */
  id?: string
  badge?: ReactNode
  back?: { href: string; label: string }
  description?: ReactNode
  actions?: ReactNode
  children?: ReactNode
}

export const PageHeader = ({ title, id, badge, back, description, actions, children }: PageHeaderProps) => (
  <header className="mb-4 space-y-3">
    {back && (
      <Link
        prefetch={false}
        href={back.href}
        className="-ml-1 inline-flex h-6 items-center gap-1 rounded-sm px-1 text-sm text-muted hover:text-text"
      >
        <ArrowLeft aria-hidden className="size-3.5" />
        {back.label}
      </Link>
    )}
    <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
      <div className="min-w-0 flex-1 basis-40">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="line-clamp-3 min-w-0 text-2xl font-semibold tracking-tight break-words">{title}</h1>
          {badge}
        </div>
        {id && <CopyableId value={id} full className="mt-0.5 text-muted" />}
        {description && <p className="mt-0.5 max-w-prose text-lg text-muted">{description}</p>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </div>
    {children}
  </header>
)
