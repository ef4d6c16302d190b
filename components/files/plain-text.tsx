import { useEffect, useMemo, useRef } from 'react'
import { visiblePieces } from '#components/ui/text.ts'

interface PlainTextProps {
  label: string
  text: string
  /** Counts from 1. */
  line?: number | undefined
}

/** Text without syntax colors, for what is too large for the editor. */
export const PlainText = ({ label, text, line }: PlainTextProps) => {
  const pieces = useMemo(() => visibleText(text), [text])
  const numbers = useMemo(() => lineNumbers(text), [text])
  const box = useRef<HTMLElement>(null)
  useEffect(() => {
    const lines = box.current?.querySelector('pre')
    if (!box.current || !lines || line === undefined) return
    const height = Number.parseFloat(getComputedStyle(lines).lineHeight)
    box.current.scrollTop = (line - 1) * height - box.current.clientHeight / 3
  }, [line])
  return (
    <section
      ref={box}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard
      tabIndex={0}
      className="flex max-h-[70dvh] overflow-auto rounded-md border border-line bg-surface-0 font-mono text-sm"
    >
      <pre
        aria-hidden
        className="sticky left-0 min-h-full shrink-0 self-start border-r border-line bg-surface-1 px-2 py-2 text-right text-muted select-none"
      >
        {numbers}
      </pre>
      <pre className="py-2 pr-4 pl-3 [tab-size:4]">
        {text === '' ? <span className="text-muted">Empty file</span> : pieces}
      </pre>
    </section>
  )
}

const lineNumbers = (text: string): string => {
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return Array.from({ length: Math.max(1, lines) }, (_, index) => index + 1).join('\n')
}

/** Marks invisible characters, so that nothing in the text is hidden. */
const visibleText = (text: string) =>
  visiblePieces(text.replaceAll('\r\n', '\n'), '\n\t').map(({ at, text: shown, codePoint }) =>
    codePoint === undefined ? (
      shown
    ) : (
      <span key={at} title={codePoint} className="rounded-sm bg-surface-2 px-0.5 text-muted">
        {shown}
      </span>
    ),
  )
