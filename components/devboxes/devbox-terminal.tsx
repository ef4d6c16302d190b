'use client'
import { useQueryClient } from '@tanstack/react-query'
import { LoaderCircle, Play, SquareTerminal } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { TerminalWorkspace } from '#components/terminal/workspace/terminal-workspace.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { devboxKeys } from '#lib/browser/queries/devbox-keys.ts'
import { type Devbox, devboxRefusal, keepsDisk, resumeRefusal } from '#lib/contract/devboxes.ts'
import { isMoving } from './queries.ts'
import type { DevboxMoves } from './use-devbox-moves.tsx'

const LogTail = dynamic(() => import('./log/log-panel.tsx').then((tab) => tab.LogTail))

export const DevboxTerminal = ({ devbox, moves }: { devbox: Devbox; moves: DevboxMoves }) => {
  const queryClient = useQueryClient()
  const refusal = devboxRefusal('open_terminal', devbox.status)
  // Once a terminal was shown it stays, with its last screen, while the devbox is away.
  const [hasRun, setHasRun] = useState(refusal === null)
  if (refusal === null && !hasRun) setHasRun(true)

  const hasFailed = devbox.status === 'failure'
  const resume = resumeRefusal(devbox) === null && (
    <Button icon={Play} busy={moves.busyId === devbox.id} onClick={() => moves.resume(devbox)}>
      Resume devbox
    </Button>
  )
  if (!hasRun)
    return (
      <div className="space-y-4">
        {isMoving(devbox) ? (
          <p role="status" className="flex items-center gap-2 text-muted">
            <LoaderCircle aria-hidden className="size-4 motion-safe:animate-spin" />
            The terminal opens as soon as the devbox runs. Until then its log:
          </p>
        ) : hasFailed ? (
          <Banner tone="danger" title="There is no shell to open">
            <p>{refusal}. Its log is below.</p>
            {resume}
          </Banner>
        ) : (
          <EmptyState icon={SquareTerminal} title="There is no shell to open" action={resume || undefined}>
            {refusal}.
          </EmptyState>
        )}
        {(hasFailed || isMoving(devbox)) && <LogTail devboxId={devbox.id} />}
      </div>
    )
  const next = !keepsDisk(devbox) ? 'This is the last it showed' : 'The terminal connects again when it runs'
  return (
    <TerminalWorkspace
      devboxId={devbox.id}
      refusal={refusal && `${refusal}. ${next}.`}
      revive={resume || undefined}
      onNotRunning={() => void queryClient.invalidateQueries({ queryKey: devboxKeys.one(devbox.id) })}
    />
  )
}
