'use client'
import { Check, Copy } from 'lucide-react'
import { classes } from './classes.ts'
import { IconButton } from './icon-button.tsx'
import { useCopy } from './use-copy.ts'

export interface CommandBlockProps {
  command: string
  label?: string
  className?: string
}

export const CommandBlock = ({ command, label = 'command', className }: CommandBlockProps) => {
  const { result, copy } = useCopy(label)
  return (
    <div className={classes('relative rounded-md border border-line bg-surface-1 text-left', className)}>
      <pre className="py-2.5 pr-10 pl-3 font-mono text-sm break-words whitespace-pre-wrap">{command}</pre>
      <IconButton
        size="sm"
        icon={result === 'copied' ? Check : Copy}
        label={result === 'copied' ? 'Copied' : `Copy ${label}`}
        onClick={() => void copy(command)}
        className="absolute top-2 right-2"
      />
    </div>
  )
}
