import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export const Facts = ({ mono, children }: { mono?: boolean; children: ReactNode }) => (
  <dl
    className={classes(
      'grid grid-cols-[minmax(7rem,auto)_minmax(0,1fr)] gap-x-6',
      mono ? 'gap-y-1.5 font-mono text-sm' : 'gap-y-2',
    )}
  >
    {children}
  </dl>
)

interface FactProps {
  label: ReactNode
  className?: string
  children: ReactNode
}

export const Fact = ({ label, className = 'break-words', children }: FactProps) => (
  <>
    <dt className="min-w-0 break-words text-muted">{label}</dt>
    <dd className={classes('min-w-0', className)}>{children}</dd>
  </>
)
