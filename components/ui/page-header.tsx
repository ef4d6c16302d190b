import type { ReactNode } from 'react'
import { CopyableId } from './copyable-id.tsx'
import { PageActions } from './page-actions.tsx'
import { VisibleText } from './visible-text.tsx'

export interface PageHeaderProps {
  title: string
  id?: string
  badge?: ReactNode
  description?: ReactNode
  actions?: ReactNode
  children?: ReactNode
}

export const PageHeader = ({ title, id, badge, description, actions, children }: PageHeaderProps) => (
  <header className="mb-4 space-y-3">
    <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
      <div className="min-w-0 flex-1 basis-40">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="line-clamp-3 min-w-0 text-2xl font-semibold tracking-tight break-words">
            <VisibleText max={200}>{title}</VisibleText>
          </h1>
          {badge}
          {id && <CopyableId value={id} full className="text-muted" />}
        </div>
        {description && <p className="mt-0.5 max-w-prose text-lg text-muted">{description}</p>}
      </div>
      {actions && (
        <PageActions className="flex flex-wrap items-center gap-2 max-sm:gap-1.5 max-sm:*:px-2">{actions}</PageActions>
      )}
    </div>
    {children}
  </header>
)
