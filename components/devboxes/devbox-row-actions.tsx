'use client'
import { Ellipsis, Pause, Play, Power, SquareTerminal } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type Devbox, devboxRefusal, resumeRefusal, shutdownRefusal } from '#lib/contract/devboxes.ts'
import type { DevboxActions } from './use-devbox-actions.tsx'

export const DevboxRowActions = ({ devbox, actions }: { devbox: Devbox; actions: DevboxActions }) => {
  const router = useRouter()
  const name = devbox.name || devbox.id
  const canResume = resumeRefusal(devbox) === null
  const busy = actions.busyId === devbox.id
  return (
    <>
      {canResume ? (
        <IconButton size="sm" icon={Play} label={`Resume ${name}`} busy={busy} onClick={() => actions.resume(devbox)} />
      ) : (
        <IconButton
          size="sm"
          icon={SquareTerminal}
          label={`Open terminal of ${name}`}
          disabledReason={devboxRefusal('open_terminal', devbox.status)}
          onClick={() => router.push(paths.devbox(devbox.id, 'terminal'))}
        />
      )}
      <DropdownMenu
        label={`Actions for ${name}`}
        trigger={<IconButton size="sm" icon={Ellipsis} label={`More actions for ${name}`} />}
        items={[
          {
            label: 'Open terminal',
            icon: SquareTerminal,
            href: paths.devbox(devbox.id, 'terminal'),
            disabledReason: devboxRefusal('open_terminal', devbox.status),
          },
          'separator',
          {
            label: 'Suspend devbox',
            icon: Pause,
            disabledReason: devboxRefusal('suspend', devbox.status),
            onSelect: () => actions.suspend(devbox),
          },
          {
            label: 'Resume devbox',
            icon: Play,
            disabledReason: resumeRefusal(devbox),
            onSelect: () => actions.resume(devbox),
          },
          {
            label: 'Shut down devbox',
            icon: Power,
            tone: 'danger',
            disabledReason: shutdownRefusal(devbox),
            onSelect: () => actions.shutdown(devbox),
          },
        ]}
      />
    </>
  )
}
