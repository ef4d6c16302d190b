import { Copy, Link2, Link2Off, Share2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { Popover } from '#components/ui/popover.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { type OpenedTerminal, useTerminalState } from '../pane/opened-terminal.ts'
import { BarButton } from './bar-button.tsx'

export const TerminalShare = ({ opened }: { opened: OpenedTerminal }) => {
  const { session } = opened
  const { follow, connection, viewers, problem } = useTerminalState(session)
  const { result, copy } = useCopy('the link')
  const [isAsked, setIsAsked] = useState(false)
  const address = follow && location.origin + follow.path
  const followers = viewers.filter(({ follower }) => follower)
  const count = followers.length

  useEffect(() => {
    if (!isAsked || !address) return
    setIsAsked(false)
    void copy(address)
  }, [isAsked, address, copy])

  return (
    <Popover
      label="Share this terminal"
      className="w-80"
      trigger={
        follow ? (
          <BarButton
            icon={Share2}
            label="Shared"
            name={`Shared: ${formatCountOf(count, 'follower')}`}
            color="text-accent"
            figure={count > 0 && count}
          />
        ) : (
          <BarButton icon={Share2} label="Share" />
        )
      }
    >
      {address ? (
        <>
          <div className="flex items-center gap-1.5">
            <Input
              readOnly
              mono
              aria-label="Link to this terminal"
              value={address}
              onFocus={({ target }) => target.select()}
            />
            <IconButton icon={Copy} label="Copy link" variant="secondary" onClick={() => void copy(address)} />
          </div>
          <p role="status" className="text-sm text-muted">
            {result === 'copied' && 'Copied. '}
            {result === 'refused' && 'The browser blocked copying. '}
            Anyone with the link can watch without signing in, but not type.{' '}
            {follow.expiresAtMs !== null && (
              <>
                It expires <RelativeTime ms={follow.expiresAtMs} />.{' '}
              </>
            )}
            {count === 0 ? 'No viewers.' : `Viewers: ${followers.map(({ name }) => name).join(', ')}.`}
          </p>
          <Button
            size="sm"
            icon={Link2Off}
            needs="/api/terminals"
            onClick={() => session.request({ t: 'follow', on: false })}
          >
            Revoke link
          </Button>
        </>
      ) : (
        <>
          <p>
            Anyone with the link can watch this terminal without signing in. They see its screen and scrollback, but
            can't type.
          </p>
          {isAsked && problem && <p className="text-danger">{problem}</p>}
          <Button
            size="sm"
            icon={Link2}
            needs="/api/terminals"
            disabledReason={connection.phase === 'open' ? null : 'The terminal is not connected'}
            onClick={() => setIsAsked(session.request({ t: 'follow', on: true }))}
          >
            Create and copy link
          </Button>
        </>
      )}
    </Popover>
  )
}
