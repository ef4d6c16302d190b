import { CircleCheck, Trash2 } from 'lucide-react'
import { Badge } from '#components/ui/badge.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import type { Axon } from '#lib/contract/axons.ts'

export const AxonState = ({ axon: { deleted_at_ms } }: { axon: Axon }) =>
  deleted_at_ms == null ? (
    <span className="inline-flex items-center gap-1.5 align-middle text-muted">
      <CircleCheck aria-hidden className="size-3.5 text-ok" />
      Active
    </span>
  ) : (
    <Badge tone="neutral" icon={Trash2}>
      Deleted <RelativeTime ms={deleted_at_ms} />
    </Badge>
  )
