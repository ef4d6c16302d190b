'use client'
import { type ComponentProps, type KeyboardEvent, useRef, useState } from 'react'
import { classes } from './classes.ts'
import { controlClasses } from './input.tsx'

interface NumberedTextareaProps extends Omit<ComponentProps<'textarea'>, 'value' | 'onChange'> {
  value: string
  onText: (text: string) => void
  invalidLines?: ReadonlySet<number>
  /** Tab inserts spaces. Escape gives the key back until the field is focused again. */
  indents?: boolean
}

const maxNumbered = 5_000
const linePx = 20
const indent = '    '

export const NumberedTextarea = ({
  value,
  onText,
  invalidLines,
  indents = false,
  className,
  ...rest
}: NumberedTextareaProps) => {
  const gutter = useRef<HTMLDivElement>(null)
  const [takesTab, setTakesTab] = useState(indents)
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Escape') setTakesTab(false)
    if (event.key !== 'Tab' || !takesTab || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return
    event.preventDefault()
    onText(insert(event.currentTarget, indent))
  }
  const isInvalid = invalidLines !== undefined && invalidLines.size > 0
  return (
    <div className="relative">
      <div
        ref={gutter}
        aria-hidden
        className="pointer-events-none absolute inset-y-px left-px w-11 overflow-hidden rounded-l-md border-r border-line bg-surface-1 py-1.5 text-right font-mono text-sm leading-5 text-muted select-none"
      >
        {value
          .split('\n')
          .slice(0, maxNumbered)
          .map((_, index) => (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
              key={index}
              className={classes('pr-2', invalidLines?.has(index + 1) && 'bg-danger-bg font-medium text-danger')}
            >
              {index + 1}
            </div>
          ))}
      </div>
      <textarea
        wrap="off"
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        aria-invalid={isInvalid || undefined}
        {...rest}
        data-takes-tab={takesTab || undefined}
        value={value}
        onChange={({ target }) => onText(target.value)}
        onKeyDown={onKeyDown}
        onBlur={() => setTakesTab(indents)}
        onScroll={({ currentTarget }) => {
          if (gutter.current) gutter.current.scrollTop = currentTarget.scrollTop
        }}
        className={classes(controlClasses, 'block w-full py-1.5 pr-2.5 pl-13 font-mono text-sm leading-5', className)}
      />
    </div>
  )
}

export const selectLine = (area: HTMLTextAreaElement, line: number): void => {
  const lines = area.value.split('\n')
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0)
  area.focus()
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  area.scrollTop = (line - 1) * linePx - area.clientHeight / 3
}

/** Returns the new text. `execCommand` keeps the undo history; not every browser has it. */
const insert = (area: HTMLTextAreaElement, text: string): string => {
  if (!document.execCommand?.('insertText', false, text))
    area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end')
  return area.value
}
