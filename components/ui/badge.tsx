import type { LucideIcon as Icon } from 'lucide-react'
import { CircleHelp, LoaderCircle } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import { VisibleText } from './visible-text.tsx'

export type Tone = 'ok' | 'progress' | 'attention' | 'danger' | 'neutral'

export interface BadgeProps {
  tone: Tone
  icon?: Icon
  /** Color and icon alone don't convey a state. */
  children: ReactNode
  title?: string
  busy?: boolean
}

export const Badge = ({ tone, icon: Icon, children, title, busy }: BadgeProps) => (
  <span
    title={title}
    className={classes(
      'inline-flex h-5 max-w-full items-center align-middle gap-1 rounded-full border px-1.5 text-xs font-medium whitespace-nowrap',
      toneClasses[tone],
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

/** `LoaderCircle` marks a state that passes by itself. */
export interface StateLook {
  tone: Tone
  icon: Icon
  word: string
}

interface StateBadgeProps {
  looks: Readonly<Record<string, StateLook>>
  state: string
  /** No longer the current state, so the icon doesn't spin. */
  past?: boolean
  title?: string
}

export const StateBadge = ({ looks, state, past, title }: StateBadgeProps) => {
  const { tone, icon, word } = (Object.hasOwn(looks, state) && looks[state]) || { ...unknownLook, word: undefined }
  return (
    <Badge tone={tone} icon={icon} busy={!past && icon === LoaderCircle} title={title}>
      {word ? word : <VisibleText max={40}>{state || 'Unknown'}</VisibleText>}
    </Badge>
  )
}

const unknownLook = { tone: 'neutral', icon: CircleHelp } as const
