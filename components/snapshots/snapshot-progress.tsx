'use client'
import { useQuery } from '@tanstack/react-query'
import { Box } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatBytes } from '#lib/browser/format.ts'
import { snapshotQueries } from './queries.ts'

const CreateDevboxDialog = dynamic(
  async () => (await import('#components/devboxes/create/create-devbox-dialog.tsx')).CreateDevboxDialog,
)

interface SnapshotProgressProps {
  id: string
  devboxId: string
  tab: string
  onDismiss: () => void
}

export const SnapshotProgress = ({ id, devboxId, tab, onDismiss }: SnapshotProgressProps) => {
  const [isCreating, setIsCreating] = useState(false)
  const { data, error } = useQuery(snapshotQueries.status(id))
  const snapshot = data?.snapshot
  const isComplete = data?.status === 'complete'
  const hasFailed = data?.status === 'error'
  const name = snapshot?.name ? <VisibleText max={80}>{snapshot.name}</VisibleText> : id
  return (
    <>
      <Banner
        tone={hasFailed ? 'danger' : isComplete ? 'ok' : 'progress'}
        role="status"
        className="mb-4 rounded-md"
        title={
          hasFailed ? (
            <>Snapshot {name} failed</>
          ) : isComplete ? (
            <>Snapshot {name} is ready</>
          ) : (
            <>Taking snapshot {name}…</>
          )
        }
        onDismiss={onDismiss}
        actions={
          <>
            {isComplete && snapshot && (
              <Button size="sm" icon={Box} onClick={() => setIsCreating(true)}>
                Create devbox
              </Button>
            )}
            {tab !== 'snapshots' && (
              <ButtonLink size="sm" href={paths.devbox(devboxId, 'snapshots')}>
                View snapshots
              </ButtonLink>
            )}
          </>
        }
      >
        {hasFailed && (data.error_message ?? 'No reason was reported.')}
        {isComplete && snapshot?.size_bytes != null && formatBytes(snapshot.size_bytes)}
        {error && !data && "Couldn't load the progress."}
      </Banner>
      {isCreating && snapshot && (
        <CreateDevboxDialog open snapshot={snapshot} onOpenChange={() => setIsCreating(false)} />
      )}
    </>
  )
}
