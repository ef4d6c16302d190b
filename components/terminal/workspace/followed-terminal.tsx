'use client'
import { useQuery } from '@tanstack/react-query'
import { Eye, Link2Off } from 'lucide-react'
import { useState } from 'react'
import { Mark } from '#components/layout/brand.tsx'
import { ThemeMenu } from '#components/layout/theme.tsx'
import { terminalQueries } from '#components/terminal/queries.ts'
import { Badge } from '#components/ui/badge.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { isMissing, isTransient } from '#lib/browser/api/failures.ts'
import { TerminalPane } from '../pane/terminal-pane.tsx'
import type { PaneStatus } from '../pane/use-pane-wiring.ts'

export const FollowedTerminal = ({ token }: { token: string }) => {
  const followed = useQuery(terminalQueries.followed(token))
  const [title, setTitle] = useState('')
  const [phase, setPhase] = useState<PaneStatus['phase']>('connecting')
  const name = title || followed.data?.title || followed.data?.name
  return (
    <div className="flex h-dvh flex-col">
      <header className="flex h-12 shrink-0 items-center gap-3 border-b border-line px-3 md:px-6">
        <Mark className="size-6 shrink-0" />
        <h1 className="flex min-w-0 items-baseline gap-2 text-lg font-semibold">
          <span className="shrink-0">Shared terminal</span>
          {name && (
            <span className="min-w-0 truncate font-normal text-muted">
              <VisibleText max={200}>{name}</VisibleText>
            </span>
          )}
        </h1>
        <span className="flex-1" />
        {followed.data && (
          <Badge tone="neutral" icon={Eye} title="You can watch but not type">
            {phase === 'ended' ? 'Ended' : 'Read only'}
          </Badge>
        )}
        <ThemeMenu />
      </header>
      <main id="content" tabIndex={-1} className="min-h-0 flex-1 p-2 outline-none md:p-3">
        {followed.isError ? (
          isMissing(followed.error) ? (
            <EmptyState icon={Link2Off} title="Nothing to watch here">
              The link has expired or was revoked, or its terminal has ended. Ask for a new link.
            </EmptyState>
          ) : (
            <ErrorState
              title="The terminal could not be found"
              error={followed.error}
              recovers={isTransient(followed.error)}
              query={followed}
            />
          )
        ) : (
          followed.data && (
            <TerminalPane
              devboxId=""
              name={followed.data.name}
              followToken={token}
              isActive
              isVisible
              refusal={null}
              onNotRunning={nothing}
              onTitle={setTitle}
              onStatus={(status) => setPhase(status.phase)}
              onFocus={nothing}
              onClose={nothing}
            />
          )
        )}
      </main>
    </div>
  )
}

const nothing = () => undefined
