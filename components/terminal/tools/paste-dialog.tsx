import { CircleAlert, EyeOff, Info, KeyRound, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { VisibleLines } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCount, formatCountOf } from '#lib/browser/format.ts'
import { asOneLine, type PasteQuestion, type PasteReason } from '#lib/terminal/page/paste.ts'
import { maskSecrets } from '#lib/terminal/page/secrets-in-text.ts'

interface PasteDialogProps {
  question: PasteQuestion
  isBracketed: boolean
  onAnswer: (text: string | null) => void
}

const previewLength = 4000

/** Confirms a risky paste. Ignores Enter at first. */
export const PasteDialog = ({ question, isBracketed, onAnswer }: PasteDialogProps) => {
  const { text, reasons, lines, secrets } = question
  const start = text.slice(0, previewLength)
  const shown = maskSecrets(
    start,
    secrets.filter((secret) => secret.start < start.length),
  )
  return (
    <Dialog
      open
      onOpenChange={() => onAnswer(null)}
      title={titleOf(question)}
      footer={
        <>
          <Button onClick={() => onAnswer(null)}>Cancel</Button>
          {lines > 1 && <Button onClick={() => onAnswer(asOneLine(text))}>Paste as one line</Button>}
          <Button variant="primary" onClick={() => onAnswer(text)}>
            Paste
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        <ul className="space-y-1.5">
          {reasons.map((reason) => {
            const { icon: Icon, color, words } = reasonTexts[reason]({ ...question, isBracketed })
            return (
              <li key={reason} className="flex gap-2 text-lg">
                <Icon aria-hidden className={`mt-1 size-4 shrink-0 ${color}`} />
                <span className="min-w-0">{words}</span>
              </li>
            )
          })}
        </ul>
        <section
          aria-label="Text to paste"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reached by keyboard
          tabIndex={0}
          className="max-h-56 overflow-auto rounded-md border border-line bg-surface-1 p-2 font-mono text-sm whitespace-pre-wrap break-all"
        >
          <VisibleLines max={previewLength}>{shown}</VisibleLines>
        </section>
        {text.length > previewLength && (
          <p className="text-sm text-muted">
            The first {formatCount(previewLength)} of {formatCount(text.length)} characters.
          </p>
        )}
        {secrets.length > 0 && <p className="text-sm text-muted">What looks like a secret is masked here only.</p>}
      </div>
    </Dialog>
  )
}

const titleOf = ({ lines, reasons, text }: PasteQuestion): string => {
  if (reasons[0] === 'secret') return 'Paste a secret into a recording?'
  if (reasons.includes('lines') && lines > 1) return `Paste ${formatCount(lines)} lines?`
  if (reasons.includes('size')) return `Paste ${formatBytes(new Blob([text]).size)}?`
  return reasons.includes('hidden') ? 'Paste text with hidden characters?' : 'Paste and run?'
}

interface ReasonText {
  icon: LucideIcon
  color: string
  words: ReactNode
}

const reasonTexts: Record<PasteReason, (about: PasteQuestion & { isBracketed: boolean }) => ReasonText> = {
  secret: ({ secrets }) => ({
    icon: KeyRound,
    color: 'text-danger',
    words: `It contains what looks like ${[...new Set(secrets.map(({ kind }) => kind))].slice(0, 3).join(', ')}. This terminal is being recorded, and anyone who plays the recording can read it.`,
  }),
  lines: ({ lines, isBracketed }) =>
    isBracketed
      ? {
          icon: Info,
          color: 'text-muted',
          words: "The shell won't run anything until you press Enter.",
        }
      : {
          icon: CircleAlert,
          color: 'text-attention',
          words: `The program in the terminal can't recognize a paste, so ${lines > 1 ? 'each line runs immediately.' : 'the line runs immediately.'}`,
        },
  size: ({ text, lines }) => ({
    icon: CircleAlert,
    color: 'text-attention',
    words: `${formatBytes(new Blob([text]).size)} in ${formatCountOf(lines, 'line')}: the shell may be busy for a while.`,
  }),
  hidden: () => ({
    icon: EyeOff,
    color: 'text-danger',
    words: 'It contains hidden characters that disguise the text. They are highlighted below.',
  }),
}
