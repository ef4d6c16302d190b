'use client'
import { Check, Copy } from 'lucide-react'
import { classes } from './classes.ts'
import { shortenMiddle } from './text.ts'
import { useCopy } from './use-copy.ts'

export interface CopyableIdProps {
  value: string
  /** For the accessible name: "Copy ID". */
  label?: string
  full?: boolean
  className?: string
}

const shownIdLength = 16

export const CopyableId = ({ value, label = 'id', full, className }: CopyableIdProps) => {
  const { result, copy } = useCopy(label)
  const text = full ? value : shortenMiddle(value, shownIdLength)
  const Icon = result === 'copied' ? Check : Copy
  return (
    <button
      type="button"
      title={value}
      aria-label={`${`Copy ${label}`} ${text}`}
      onClick={() => void copy(value)}
      className={classes(
        'group relative inline-flex min-h-6 max-w-full min-w-0 items-center rounded-sm pr-4 font-mono text-sm hover:text-accent',
        full && 'text-left break-all',
        className,
      )}
    >
      {text}
      <Icon
        aria-hidden
        className={classes(
          'absolute right-0 size-3',
          result === 'copied'
            ? 'text-ok'
            : 'hidden text-muted group-hover:block group-focus-visible:block pointer-coarse:block',
        )}
      />
    </button>
  )
}
