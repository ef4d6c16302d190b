'use client'
import { CircleAlert } from 'lucide-react'
import { useId, useRef } from 'react'
import { NumberedTextarea, selectLine } from '#components/ui/numbered-textarea.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { YamlProblem } from '../job-figures.ts'

interface YamlFieldProps {
  label: string
  value: string
  onChange: (text: string) => void
  problems: readonly YamlProblem[]
  placeholder?: string
}

export const YamlField = ({ label, value, onChange, problems, placeholder }: YamlFieldProps) => {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const lines = value.split('\n')
  const invalid = new Set(problems.flatMap(({ line }) => line ?? []))
  const goTo = (line: number) => area.current && selectLine(area.current, line)
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <NumberedTextarea
        id={id}
        ref={area}
        rows={16}
        value={value}
        placeholder={placeholder}
        invalidLines={invalid}
        aria-invalid={problems.length > 0 || undefined}
        aria-describedby={problems.length > 0 ? `${id}-problems` : undefined}
        onText={onChange}
      />
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
