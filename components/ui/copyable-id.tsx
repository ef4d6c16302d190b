'use client'
import { Check, Copy } from 'lucide-react'
import Link from 'next/link'
import { classes } from './classes.ts'
import { shortenMiddle } from './text.ts'
import { useCopy } from './use-copy.ts'

export interface CopyableIdProps {
  value: string
  /** What it is, for the button's name: "Copy id". */
  label?: string
  /** Shown whole instead of shortened in the middle. */
  full?: boolean
  /** Makes the text a link, so that only the icon copies. */
  href?: string
  className?: string
}

/** Characters of an id that is not shown whole. */
const shownIdLength = 16

export const CopyableId = ({ value, label = 'id', full, href, className }: CopyableIdProps) => {
  const { result, copy } = useCopy()
  const text = full ? value : shortenMiddle(value, shownIdLength)
  const Icon = result === 'copied' ? Check : Copy
  const icon = (
    <Icon
      aria-hidden
      className={classes(
        'size-3 shrink-0',
        result === 'copied'
          ? 'text-ok'
          : 'text-muted opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100 pointer-coarse:opacity-100',
      )}
    />
  )
  const shape = 'group inline-flex min-h-6 max-w-full items-center gap-1 rounded-sm font-mono text-sm hover:text-accent'
  return (
    <span className={classes('inline-flex max-w-full min-w-0 items-center', className)}>
      {href && (
        <Link href={href} title={value} className="truncate font-mono text-sm text-accent hover:underline">
          {text}
        </Link>
      )}
      <button
        type="button"
        title={value}
        onClick={() => void copy(value)}
        className={classes(shape, href ? 'ml-1' : '')}
      >
        <span className="sr-only">
          Copy {label} {value}
        </span>
        {!href && (
          <span aria-hidden className={full ? 'break-all text-left' : 'truncate'}>
            {text}
          </span>
        )}
        {icon}
      </button>
      <span role="status" className="sr-only">
        {result === 'copied' ? `Copied ${label}` : result === 'refused' ? 'The browser refused to copy' : ''}
      </span>
    </span>
  )
}
