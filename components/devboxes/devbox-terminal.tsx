'use client'
import { useQueryClient } from '@tanstack/react-query'
import { Play, SquareTerminal } from 'lucide-react'
import { useState } from 'react'
import { TerminalWorkspace } from '#components/terminal/workspace/terminal-workspace.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { devboxKeys } from '#lib/console/queries/devbox-keys.ts'
import { type Devbox, devboxRefusal } from '#lib/contract/devboxes.ts'
import type { DevboxMoves } from './use-devbox-moves.tsx'

export const DevboxTerminal = ({ devbox, moves }: { devbox: Devbox; moves: DevboxMoves }) => {
  const queryClient = useQueryClient()
  const refusal = devboxRefusal('open_terminal', devbox.status)
  // Once a terminal was shown it stays, with its last screen, while the devbox is away.
  const [hasRun, setHasRun] = useState(refusal === null)
  if (refusal === null && !hasRun) setHasRun(true)

  const resume = devbox.status === 'suspended' && (
    <Button icon={Play} busy={moves.busyId === devbox.id} onClick={() => moves.resume(devbox)}>
      Resume devbox
    </Button>
  )
  if (!hasRun)
    return (
      <EmptyState icon={SquareTerminal} title="There is no shell to open" action={resume || undefined}>
        {refusal}.
      </EmptyState>
    )
  return (
    <TerminalWorkspace
      devboxId={devbox.id}
      refusal={refusal}
      revive={resume || undefined}
      onNotRunning={() => void queryClient.invalidateQueries({ queryKey: devboxKeys.one(devbox.id) })}
    />
  )
}
