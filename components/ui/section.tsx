import type { ReactNode } from 'react'

interface SectionProps {
  title: string
  action?: ReactNode
  children: ReactNode
}

export const Section = ({ title, action, children }: SectionProps) => (
  <section aria-label={title} className="min-w-0 space-y-3">
    <div className="flex min-h-8 flex-wrap items-center justify-between gap-2 border-b border-line pb-1">
      <h2 className="text-lg font-medium">{title}</h2>
      {action}
    </div>
    {children}
  </section>
)
