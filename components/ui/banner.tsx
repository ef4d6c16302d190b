import type { LucideIcon as Icon } from 'lucide-react'
import { CircleAlert, CircleCheck, Info, LoaderCircle, TriangleAlert, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { type Tone, toneClasses } from './badge.tsx'
import { classes } from './classes.ts'
import { IconButton } from './icon-button.tsx'

export interface BannerProps {
  tone: Tone
  icon?: Icon
  title: ReactNode
  children?: ReactNode
  actions?: ReactNode
  onDismiss?: () => void
  role?: 'status' | 'alert'
  className?: string
}

export const Banner = ({ tone, icon, title, children, actions, onDismiss, role, className }: BannerProps) => {
  const Icon = icon ?? toneIcons[tone]
  return (
    <div
      role={role}
      className={classes(
        'flex min-w-0 items-start gap-2.5 border px-3 py-2',
        toneClasses[tone],
        className ?? 'rounded-md',
      )}
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 flex-1 text-text">
        <span className="font-medium">{title}</span>
        {children && <div className="text-muted">{children}</div>}
      </div>
      {actions && <div className="flex shrink-0 flex-wrap items-center gap-2">{actions}</div>}
      {onDismiss && <IconButton size="sm" icon={X} label="Dismiss" onClick={onDismiss} className="-my-0.5 -mr-1" />}
    </div>
  )
}

const toneIcons: Record<Tone, Icon> = {
  ok: CircleCheck,
  progress: LoaderCircle,
  attention: TriangleAlert,
  danger: CircleAlert,
  neutral: Info,
}
