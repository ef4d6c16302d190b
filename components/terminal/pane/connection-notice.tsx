'use client'
import {
  CirclePause,
  CircleSlash,
  Eye,
  LoaderCircle,
  LogOut,
  type LucideIcon,
  Play,
  RotateCw,
  SquareTerminal,
  Unlink,
  WifiOff,
  X,
} from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Keys } from '#components/layout/keys.tsx'
import { type Tone, toneClasses } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { useRefusal } from '#components/ui/refusals.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { redirectToSignIn } from '#lib/browser/api/console-api.ts'
import { formatElapsedMs } from '#lib/browser/format.ts'
import { describeExit } from '#lib/browser/frame/exit-status.ts'
import type { ConnectionState } from '#lib/terminal/page/connection.ts'
import type { TerminalState } from '#lib/terminal/page/page-terminal.ts'

interface ConnectionNoticeProps {
  state: TerminalState
  refusal: string | null
  revive: ReactNode
  onConnect: () => void
  onClose: () => void
}

/** Why input is unavailable and what to do about it; nothing while the terminal is open. */
export const ConnectionNotice = ({ state, refusal, revive, onConnect, onClose }: ConnectionNoticeProps) => {
  const { connection, upstreamLost, problem } = state
  const notAllowed = useRefusal('/api/terminals')
  const again = (label: string) => (
    <Button size="sm" icon={RotateCw} onClick={onConnect}>
      {label}
    </Button>
  )
  if (refusal !== null)
    return (
      <NoticeBar tone="neutral" icon={CirclePause} actions={revive}>
        {refusal}
      </NoticeBar>
    )
  switch (connection.phase) {
    case 'open':
      if (upstreamLost)
        return (
          <NoticeBar tone="attention" icon={LoaderCircle} busy>
            The console lost its connection to the service <Since ms={upstreamLost.sinceMs} /> and is trying to reach it
            again. <Problem>{upstreamLost.message}</Problem>
          </NoticeBar>
        )
      return problem && <ProblemNotice key={problem} problem={problem} />
    case 'connecting':
      return (
        <NoticeBar tone="progress" icon={LoaderCircle} busy>
          Connecting to the shell
        </NoticeBar>
      )
    case 'lost':
      return <LostNotice connection={connection} problem={problem} action={again('Reconnect now')} />
    case 'ended':
      return (
        <NoticeBar
          tone={connection.exitCode ? 'attention' : 'neutral'}
          icon={SquareTerminal}
          actions={
            <>
              {notAllowed === null && <EnterKey />}
              <Button size="sm" icon={Play} disabledReason={notAllowed} onClick={onConnect}>
                Start a new shell
              </Button>
              <Button size="sm" variant="ghost" icon={X} onClick={onClose}>
                Close
              </Button>
            </>
          }
        >
          {describeExit(connection.exitCode, connection.reason)}.
        </NoticeBar>
      )
    case 'taken':
      return (
        <NoticeBar tone="attention" icon={Unlink} actions={again('Take back')}>
          Opened in another window. <Problem>{connection.reason}</Problem>
        </NoticeBar>
      )
    case 'refused': {
      const { tone, icon, words, mayRetry } = refused[connection.code]
      const signIn = connection.code === 'signed_out' && (
        <Button size="sm" onClick={async () => (await redirectToSignIn()) || onConnect()}>
          Sign in
        </Button>
      )
      return (
        <NoticeBar tone={tone} icon={icon} actions={signIn || (mayRetry && again('Try again'))}>
          {connection.code === 'too_many' && problem ? `${problem}.` : words}
        </NoticeBar>
      )
    }
  }
}

type Refusal = Extract<ConnectionState, { phase: 'refused' }>['code']

const refused: Record<Refusal, { tone: Tone; icon: LucideIcon; words: string; mayRetry?: true }> = {
  signed_out: { tone: 'attention', icon: LogOut, words: 'You are signed out.' },
  not_found: { tone: 'neutral', icon: CircleSlash, words: 'This devbox no longer exists.' },
  link_ended: {
    tone: 'neutral',
    icon: CircleSlash,
    words: 'This link has expired or was revoked. Ask for a new one.',
  },
  not_running: { tone: 'neutral', icon: CirclePause, words: 'The devbox is not running.', mayRetry: true },
  follow_only: {
    tone: 'neutral',
    icon: Eye,
    words: "This terminal isn't open. Viewers can follow it once someone opens it.",
  },
  too_many: { tone: 'attention', icon: CircleSlash, words: 'Too many terminals are open. Close some.', mayRetry: true },
}

interface LostNoticeProps {
  connection: Extract<ConnectionState, { phase: 'lost' }>
  problem: string | null
  action: ReactNode
}

const LostNotice = ({ connection, problem, action }: LostNoticeProps) => {
  const { sinceMs, wasOpen, retryAtMs } = connection
  const isOffline = connection.isOffline || !navigator.onLine
  return (
    <NoticeBar
      tone="attention"
      icon={isOffline ? WifiOff : LoaderCircle}
      busy={!isOffline}
      actions={
        <>
          <EnterKey />
          {action}
        </>
      }
    >
      {wasOpen ? 'Connection lost ' : 'Unable to connect for '}
      <Since ms={sinceMs} ago={wasOpen} />
      {isOffline ? (
        '. This browser is offline. The terminal reconnects once it is online.'
      ) : (
        <>
          . <NextTry atMs={retryAtMs} />
        </>
      )}{' '}
      <Problem>{problem}</Problem>
    </NoticeBar>
  )
}

const EnterKey = () => (
  <span aria-hidden className="hidden @lg:inline">
    <Keys keys={['Enter']} />
  </span>
)

const Since = ({ ms, ago = true }: { ms: number; ago?: boolean }) => {
  const text = useClock((nowMs) => formatElapsedMs(nowMs - ms))
  return (
    <span className="tabular">
      {text}
      {ago && ' ago'}
    </span>
  )
}

const NextTry = ({ atMs }: { atMs: number | null }) => {
  const seconds = useClock((nowMs) => (atMs === null ? 0 : Math.ceil((atMs - nowMs) / 1000)))
  if (seconds <= 0) return 'Reconnecting'
  return (
    <>
      Reconnecting in <span className="tabular">{seconds} s</span>
    </>
  )
}

/** A failed request that didn't affect the terminal, such as a resize. */
const ProblemNotice = ({ problem }: { problem: string }) => {
  const [isShown, setIsShown] = useState(true)
  if (!isShown) return null
  return (
    <NoticeBar
      tone="attention"
      icon={Unlink}
      actions={
        <Button size="sm" variant="ghost" onClick={() => setIsShown(false)}>
          Dismiss
        </Button>
      }
    >
      {problem}
    </NoticeBar>
  )
}

const Problem = ({ children }: { children: string | null }) =>
  children && <span className="break-words text-muted">{children}</span>

interface NoticeBarProps {
  tone: Tone
  icon: LucideIcon
  busy?: boolean
  children: ReactNode
  actions?: ReactNode
}

export const NoticeBar = ({ tone, icon: Icon, busy, children, actions }: NoticeBarProps) => (
  <div
    data-notice
    className={classes(
      'flex min-h-9 flex-wrap items-center gap-x-2.5 gap-y-1 border-b px-3 py-1 last:border-b-0',
      toneClasses[tone],
    )}
  >
    <Icon aria-hidden className={classes('size-3.5 shrink-0', busy && 'motion-safe:animate-spin')} />
    <div className="min-w-0 flex-1 basis-40 text-text">{children}</div>
    {actions && <div className="flex flex-wrap items-center gap-1.5">{actions}</div>}
  </div>
)
