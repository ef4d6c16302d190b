'use client'
import { useQueryClient } from '@tanstack/react-query'
import { LoaderCircle, Play, SquareTerminal } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { TerminalWorkspace } from '#components/terminal/workspace/terminal-workspace.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { devboxRefusal, keepsDisk, resumeRefusal } from '#lib/contract/devboxes.ts'
import { useDevbox } from './detail.tsx'
import { isMoving } from './queries.ts'
import { devboxKeys } from './query-keys.ts'

const LogTail = dynamic(() => import('./log/log-panel.tsx').then((module) => module.LogTail))
// Starts loading xterm before the page hydrates.
if (typeof location === 'object' && location.pathname.endsWith('/terminal'))
  import('#components/terminal/pane/draw-terminal.ts').catch(() => undefined)

export const DevboxTerminal = () => {
  const { devbox, actions } = useDevbox()
  const queryClient = useQueryClient()
  const refusal = devboxRefusal('open_terminal', devbox.status)
  // An open terminal keeps its last screen while the devbox is suspended.
  const [hasRun, setHasRun] = useState(refusal === null)
  if (refusal === null && !hasRun) setHasRun(true)

  const hasFailed = devbox.status === 'failure'
  const resume = resumeRefusal(devbox) === null && (
    <Button
      icon={Play}
      needs="devboxes.resume"
      busy={actions.busyId === devbox.id}
      onClick={() => actions.resume(devbox)}
    >
      Resume devbox
    </Button>
  )
  if (!hasRun)
    return (
      <div className="space-y-4">
        {isMoving(devbox) ? (
          <p role="status" className="flex items-center gap-2 text-muted">
            <LoaderCircle aria-hidden className="size-4 motion-safe:animate-spin" />
            The terminal opens once the devbox is running. Log so far:
          </p>
        ) : hasFailed ? (
          <Banner tone="danger" title="Terminal unavailable">
            <p>{refusal}. See the log below.</p>
            {resume}
          </Banner>
        ) : (
          <EmptyState icon={SquareTerminal} title="Terminal unavailable" action={resume || undefined}>
            {refusal}.
          </EmptyState>
        )}
        {(hasFailed || isMoving(devbox)) && <LogTail devboxId={devbox.id} />}
      </div>
    )
  const outlook = keepsDisk(devbox) ? 'The terminal reconnects when it runs again' : 'Showing the last screen'
  return (
    <TerminalWorkspace
      devboxId={devbox.id}
      refusal={refusal && `${refusal}. ${outlook}.`}
      revive={resume || undefined}
      onNotRunning={() => void queryClient.invalidateQueries({ queryKey: devboxKeys.one(devbox.id) })}
    />
  )
}
