'use client'
import { useQuery } from '@tanstack/react-query'
import { Box, Link2, Pencil } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { SheetFrame } from '#components/ui/overlay/sheet-frame.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { isMissing } from '#lib/browser/api/failures.ts'
import { formatCount } from '#lib/browser/format.ts'
import type { Snapshot } from '#lib/contract/snapshots.ts'
import { snapshotQueries } from './queries.ts'
import { SnapshotSize } from './snapshot-size.tsx'
import { useSnapshotStatus } from './use-snapshot-status.ts'

interface SnapshotSheetProps {
  id: string
  /** The list's row; without it, the snapshot is fetched. */
  listed: Snapshot | undefined
  onCreate: (snapshot: Snapshot) => void
  onEdit: (snapshot: Snapshot) => void
  onClose: () => void
}

export const SnapshotSheet = ({ id, listed, onCreate, onEdit, onClose }: SnapshotSheetProps) => {
  const query = useQuery({ ...snapshotQueries.status(id), enabled: listed === undefined })
  const snapshot = listed ?? query.data?.snapshot
  if (snapshot)
    return (
      <SheetFrame
        title={snapshot.name ? <VisibleText max={200}>{snapshot.name}</VisibleText> : 'Unnamed snapshot'}
        actions={<CopyButton what="link" text={() => new URL(paths.snapshot(id), location.href).href} icon={Link2} />}
        onClose={onClose}
      >
        <Details snapshot={snapshot} onCreate={() => onCreate(snapshot)} onEdit={() => onEdit(snapshot)} />
      </SheetFrame>
    )
  return (
    <SheetFrame title="Snapshot" onClose={onClose}>
      <CopyableId value={id} full />
      {query.isPending ? (
        <p className="animate-appear-late text-muted">Loading snapshot</p>
      ) : query.error && !isMissing(query.error) ? (
        <InlineError error={query.error} />
      ) : (
        <p>Snapshot not found. It may have been deleted or belong to another account.</p>
      )}
    </SheetFrame>
  )
}

interface DetailsProps {
  snapshot: Snapshot
  onCreate: () => void
  onEdit: () => void
}

const Details = ({ snapshot, onCreate, onEdit }: DetailsProps) => (
  <>
    <div className="flex flex-wrap gap-2">
      <CreateButton snapshot={snapshot} onCreate={onCreate} />
      <Button icon={Pencil} needs="snapshots.update" onClick={onEdit}>
        Edit snapshot
      </Button>
    </div>
    <Facts>
      <Fact label="ID">
        <CopyableId value={snapshot.id} full />
      </Fact>
      <Fact label="Created">
        <RelativeTime ms={snapshot.create_time_ms} />
      </Fact>
      <Fact label="Size">
        <SnapshotSize snapshot={snapshot} />
        {snapshot.size_bytes != null && (
          <span className="text-muted"> ({formatCount(snapshot.size_bytes)} bytes beyond its base)</span>
        )}
      </Fact>
      <Fact label="Devbox">
        <TextLink href={paths.devbox(snapshot.source_devbox_id)} className="font-mono text-sm break-all">
          {snapshot.source_devbox_id}
        </TextLink>
      </Fact>
      {snapshot.source_blueprint_id && (
        <Fact label="Blueprint">
          <TextLink href={paths.blueprint(snapshot.source_blueprint_id)} className="font-mono text-sm break-all">
            {snapshot.source_blueprint_id}
          </TextLink>
        </Fact>
      )}
    </Facts>
    <section aria-label="Commit message" className="space-y-1">
      <h3 className="font-medium">Commit message</h3>
      {snapshot.commit_message ? (
        <p className="break-words whitespace-pre-wrap">
          <VisibleText max={1000}>{snapshot.commit_message}</VisibleText>
        </p>
      ) : (
        <p className="text-muted">None</p>
      )}
    </section>
    <section aria-label="Metadata" className="space-y-1">
      <h3 className="font-medium">Metadata</h3>
      <MetadataChips
        metadata={snapshot.metadata}
        hrefFor={(key, value) => paths.snapshots({ metadata: [{ key, op: 'eq', value }] })}
        empty={<p className="text-muted">None</p>}
      />
    </section>
  </>
)

const CreateButton = ({ snapshot, onCreate }: Pick<DetailsProps, 'snapshot' | 'onCreate'>) => {
  const status = useSnapshotStatus(snapshot)
  return (
    <Button
      icon={Box}
      needs="devboxes.create"
      disabledReason={status === 'complete' ? null : 'the snapshot is not complete'}
      onClick={onCreate}
    >
      Create devbox
    </Button>
  )
}
