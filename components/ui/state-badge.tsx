import type { LucideIcon as Icon } from 'lucide-react'
import { CircleHelp, LoaderCircle } from 'lucide-react'
import { Badge, type Tone } from './badge.tsx'
import { VisibleText } from './visible-text.tsx'

/** How a state is shown; the icon of one that passes by itself is `LoaderCircle`. */
export interface StateLook {
  tone: Tone
  icon: Icon
  word: string
}

interface StateBadgeProps {
  looks: Readonly<Record<string, StateLook>>
  state: string
  /** The state was left, so nothing is under way in it. */
  past?: boolean
  title?: string
}

/** A state by the looks of its resource; one that is not known yet is shown as it is. */
export const StateBadge = ({ looks, state, past, title }: StateBadgeProps) => {
  const { tone, icon, word } = (Object.hasOwn(looks, state) && looks[state]) || unknownLook
  return (
    <Badge tone={tone} icon={icon} busy={!past && icon === LoaderCircle} title={title}>
      {word || <VisibleText max={40}>{state || 'Unknown'}</VisibleText>}
    </Badge>
  )
}

const unknownLook: StateLook = { tone: 'neutral', icon: CircleHelp, word: '' }
