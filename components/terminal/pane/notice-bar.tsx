import type { LucideIcon as Icon } from 'lucide-react'
import type { ReactNode, Ref } from 'react'
import { type Tone, toneClasses } from '#components/ui/badge.tsx'
import { classes } from '#components/ui/classes.ts'

export interface NoticeBarProps {
  tone: Tone
  icon: Icon
  busy?: boolean
  children: ReactNode
  actions?: ReactNode
  ref?: Ref<HTMLDivElement>
}

export const NoticeBar = ({ tone, icon: Icon, busy, children, actions, ref }: NoticeBarProps) => (
  <div
    ref={ref}
    data-notice
    className={classes(
      'flex min-h-9 flex-wrap items-center gap-x-2.5 gap-y-1 border-b px-3 py-1 last:border-b-0',
      toneClasses[tone],
    )}
  >
    <Icon aria-hidden className={classes('size-3.5 shrink-0', busy && 'motion-safe:animate-spin')} />
    <div className="min-w-0 flex-1 basis-40 text-text">{children}</div>
    {actions && <div className="flex flex-wrap items-center gap-1.5">{actions}</div>}
  </div>
)
