import type { LucideIcon as Icon } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export type Tone = 'ok' | 'progress' | 'attention' | 'danger' | 'neutral'

export interface BadgeProps {
  tone: Tone
  icon?: Icon
  /** The word of the state: colour and icon never stand alone. */
  children: ReactNode
  title?: string
  /** Turns the icon while the state is passing. */
  busy?: boolean
  className?: string
}

export const Badge = ({ tone, icon: Icon, children, title, busy, className }: BadgeProps) => (
  <span
    title={title}
    className={classes(
      'inline-flex h-5 max-w-full items-center align-middle gap-1 rounded-full border px-1.5 text-xs font-medium whitespace-nowrap',
      toneClasses[tone],
      className,
    )}
  >
    {Icon && (
      <Icon aria-hidden className={classes('size-3 shrink-0', busy && 'motion-safe:animate-spin')} strokeWidth={2.25} />
    )}
    <span className="truncate">{children}</span>
  </span>
)

export const toneClasses: Record<Tone, string> = {
  ok: 'text-ok bg-ok-bg border-ok-line',
  progress: 'text-progress bg-progress-bg border-progress-line',
  attention: 'text-attention bg-attention-bg border-attention-line',
  danger: 'text-danger bg-danger-bg border-danger-line',
  neutral: 'text-neutral bg-neutral-bg border-neutral-line',
}
