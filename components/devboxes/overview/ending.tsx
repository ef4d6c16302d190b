import { Copy, ScrollText } from 'lucide-react'
import type { ReactNode } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type Devbox, keepsDisk } from '#lib/contract/devboxes.ts'

interface EndingProps {
  devbox: Devbox
  /** Opens the form of a new devbox with what this one was made with. */
  onCopy: () => void
}

/** Why it ended, in words, and what can be done now. */
export const Ending = ({ devbox, onCopy }: EndingProps) => {
  const { id, status, failure_reason, shutdown_reason } = devbox
  if (status !== 'failure' && status !== 'shutdown') return null
  const hasFailed = status === 'failure'
  const { why, next } = hasFailed
    ? reasonOf(failures, failure_reason, 'What it wrote last is in its log.')
    : reasonOf(shutdowns, shutdown_reason, 'Its disk is deleted; its snapshots and its log stay.')
  return (
    <Banner
      tone={hasFailed ? 'danger' : 'neutral'}
      title={hasFailed ? 'This devbox failed' : 'This devbox was shut down'}
    >
      <p>{why}</p>
      {keepsDisk(devbox) ? (
        <p>Its disk is kept until you shut it down. Resume the devbox to continue.</p>
      ) : (
        <p>{next}</p>
      )}
      <div className="mt-2 flex flex-wrap gap-2">
        <ButtonLink size="sm" icon={ScrollText} href={paths.devbox(id, 'log')}>
          Read its log
        </ButtonLink>
        <Button size="sm" icon={Copy} onClick={onCopy}>
          Create one like it
        </Button>
      </div>
    </Banner>
  )
}

interface Reason {
  why: string
  /** What to do about it. */
  next: string
}

const reasonOf = (
  reasons: Record<string, Reason>,
  reason: string | null | undefined,
  otherwise: string,
): { why: ReactNode; next: string } => {
  if (!reason) return { why: 'The service gave no reason.', next: otherwise }
  const known = Object.hasOwn(reasons, reason) ? reasons[reason] : undefined
  return known ?? { why: <VisibleText max={300}>{reason}</VisibleText>, next: otherwise }
}

const failures: Record<string, Reason> = {
  out_of_memory: { why: 'It ran out of memory.', next: 'Create one like it of a larger size.' },
  out_of_disk: { why: 'It ran out of disk.', next: 'Create one like it of a larger size, or of a custom one.' },
  execution_failed: {
    why: 'A launch command or its entrypoint failed.',
    next: 'The log has what the command wrote; mend it in one like it.',
  },
  health_check_failed: {
    why: 'Its processes were killed, or it stopped responding.',
    next: 'Its log shows what happened last.',
  },
}
const kept = 'Its disk is deleted; its snapshots and its log stay.'
const shutdowns: Record<string, Reason> = {
  api_shutdown: { why: 'By a call of the API or by this console.', next: kept },
  keep_alive_timeout: {
    why: 'Its keep-alive time was over.',
    next: `${kept} Give the next one a longer time, or an idle rule that suspends it.`,
  },
  entrypoint_exit: { why: 'Its entrypoint ended.', next: `${kept} The log has how the entrypoint ended.` },
  idle: {
    why: 'It was idle for longer than it was allowed to be.',
    next: `${kept} An idle rule can suspend the next one instead.`,
  },
  ttl_expired: { why: 'It reached the end of its lifetime.', next: kept },
}
