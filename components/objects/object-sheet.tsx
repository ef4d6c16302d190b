'use client'
import { Box, Download, Trash2 } from 'lucide-react'
import { RecordSheet } from '#components/record/record-sheet.tsx'
import { Button, ButtonAnchor } from '#components/ui/button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import type { StoredObject } from '#lib/contract/objects.ts'
import { objectContentHref, objectQueries } from './queries.ts'
import { contentRefusal, contentTypeText, ObjectStateBadge } from './state.tsx'

interface ObjectSheetProps {
  id: string
  listed: StoredObject | undefined
  onUse: (object: StoredObject) => void
  onDelete: (object: StoredObject) => void
  onClose: () => void
}

export const ObjectSheet = ({ id, listed, onUse, onDelete, onClose }: ObjectSheetProps) => (
  <RecordSheet noun="object" id={id} listed={listed} query={objectQueries.get(id)} onClose={onClose}>
    {(object) => (
      <>
        <div className="flex flex-wrap gap-2">
          {contentRefusal(object) === null && (
            <ButtonAnchor icon={Download} href={objectContentHref(object.id)} download>
              Download
            </ButtonAnchor>
          )}
          <Button
            icon={Box}
            needs="devboxes.create"
            disabledReason={contentRefusal(object)}
            onClick={() => onUse(object)}
          >
            Create devbox
          </Button>
          <Button icon={Trash2} needs="objects.delete" onClick={() => onDelete(object)}>
            Delete object
          </Button>
        </div>
        <Facts>
          <Fact label="ID">
            <CopyableId value={object.id} full />
          </Fact>
          <Fact label="State">
            <ObjectStateBadge state={object.state} />
          </Fact>
          <Fact label="Type">{contentTypeText(object.content_type)}</Fact>
          <Fact label="Size">
            {object.size_bytes == null
              ? 'Not reported'
              : `${formatBytes(object.size_bytes)} (${formatCount(object.size_bytes)} bytes)`}
          </Fact>
          <Fact label="Created">
            <RelativeTime ms={object.create_time_ms} />
          </Fact>
          <Fact label="Expires">
            {object.delete_after_time_ms == null ? 'Never' : <RelativeTime ms={object.delete_after_time_ms} />}
          </Fact>
        </Facts>
        <section aria-label="Metadata" className="space-y-1">
          <h3 className="font-medium">Metadata</h3>
          <MetadataChips
            metadata={object.metadata ?? {}}
            hrefFor={(key, value) => paths.objects({ metadata: [{ key, op: 'eq', value }] })}
            empty={<p className="text-muted">None</p>}
          />
        </section>
      </>
    )}
  </RecordSheet>
)
