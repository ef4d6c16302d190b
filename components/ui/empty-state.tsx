import type { LucideIcon as Icon } from 'lucide-react'
import type { ReactNode } from 'react'
import { CommandBlock } from './command-block.tsx'

export interface EmptyStateProps {
  icon: Icon
  title: string
  titleAs?: 'h1' | 'h2'
  children?: ReactNode
  action?: ReactNode
  /** A shell command that does the same. */
  command?: string
  /** The same API call as code. */
  sample?: ReactNode
}

export const EmptyState = ({
  icon: Icon,
  title,
  titleAs: Title = 'h2',
  children,
  action,
  command,
  sample = command && <CommandBlock command={command} />,
}: EmptyStateProps) => (
  <section className="flex flex-col items-center gap-3 px-4 py-14 text-center">
    <span className="flex size-10 items-center justify-center rounded-lg border border-line bg-surface-1 text-muted">
      <Icon aria-hidden className="size-5" strokeWidth={1.75} />
    </span>
    <Title className="text-lg font-medium">{title}</Title>
    {children && <div className="max-w-prose text-lg text-balance text-muted">{children}</div>}
    {action && <div className="mt-1 flex flex-wrap justify-center gap-2">{action}</div>}
    {sample && (
      <div className="mt-3 w-full max-w-2xl space-y-1.5">
        <p className="text-sm text-muted">{command ? 'The same from a shell' : 'The same with the API'}</p>
        {sample}
      </div>
    )}
  </section>
)
