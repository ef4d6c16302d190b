'use client'
import { CircleAlert } from 'lucide-react'
import { useId, useRef } from 'react'
import { classes } from '#components/ui/classes.ts'
import { controlClasses } from '#components/ui/input.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { YamlProblem } from '../job-figures.ts'

interface YamlFieldProps {
  label: string
  value: string
  onChange: (text: string) => void
  problems: readonly YamlProblem[]
  placeholder?: string
}

const maxNumbered = 5_000

export const YamlField = ({ label, value, onChange, problems, placeholder }: YamlFieldProps) => {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const gutter = useRef<HTMLDivElement>(null)
  const lines = value.split('\n')
  const invalid = new Set(problems.map(({ line }) => line))
  const goTo = (line: number) => {
    const box = area.current
    if (!box) return
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0)
    box.focus()
    box.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
    box.scrollTop = (line - 1) * 20 - box.clientHeight / 3
  }
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <div className="relative">
        <div
          ref={gutter}
          aria-hidden
          className="pointer-events-none absolute inset-y-px left-px w-11 overflow-hidden rounded-l-md border-r border-line bg-surface-1 py-1.5 text-right font-mono text-sm leading-5 text-muted select-none"
        >
          {lines.slice(0, maxNumbered).map((_, index) => (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
              key={index}
              className={classes('pr-2', invalid.has(index + 1) && 'bg-danger-bg font-medium text-danger')}
            >
              {index + 1}
            </div>
          ))}
        </div>
        <textarea
          id={id}
          ref={area}
          rows={16}
          wrap="off"
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          value={value}
          placeholder={placeholder}
          aria-invalid={problems.length > 0 || undefined}
          aria-describedby={problems.length > 0 ? `${id}-problems` : undefined}
          onChange={({ target }) => onChange(target.value)}
          onScroll={({ currentTarget }) => {
            if (gutter.current) gutter.current.scrollTop = currentTarget.scrollTop
          }}
          className={classes(controlClasses, 'block w-full py-1.5 pr-2.5 pl-13 font-mono text-sm leading-5')}
        />
      </div>
      {problems.length > 0 && (
        <div id={`${id}-problems`} role="alert" className="text-sm text-danger">
          <p className="flex gap-1 font-medium">
            <CircleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
            {problems.length === 1 ? 'One problem' : `${formatCount(problems.length)} problems`}; nothing was created
          </p>
          <ul className="max-h-40 list-disc space-y-0.5 overflow-y-auto pl-5">
            {problems.map(({ line, text }) => (
              <li key={text} className="break-words">
                {line === null || line > lines.length ? (
                  text
                ) : (
                  <button
                    type="button"
                    className="text-left underline-offset-2 hover:underline"
                    onClick={() => goTo(line)}
                  >
                    {text}
                  </button>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}
