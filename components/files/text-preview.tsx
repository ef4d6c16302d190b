import { useMemo } from 'react'
import { visiblePieces } from '#components/ui/text.ts'

/** Text of a file with the numbers of its lines: never as markup, and nothing in it acts unseen. */
export const TextPreview = ({ text, label }: { text: string; label: string }) => {
  const pieces = useMemo(() => piecesOf(text), [text])
  const numbers = useMemo(() => numbersOf(text), [text])
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
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
        {text === '' ? <span className="text-muted">The file is empty.</span> : pieces}
      </pre>
    </section>
  )
}

const numbersOf = (text: string): string => {
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return Array.from({ length: Math.max(1, lines) }, (_, index) => index + 1).join('\n')
}

/** Text, and an element for each character that has no shape of its own. Windows line ends are plain line ends. */
const piecesOf = (text: string) =>
  visiblePieces(text.replaceAll('\r\n', '\n'), '\n\t').map(({ at, text: shown, codePoint }) =>
    codePoint === undefined ? (
      shown
    ) : (
      <span key={at} title={codePoint} className="rounded-sm bg-surface-2 px-0.5 text-muted">
        {shown}
      </span>
    ),
  )
