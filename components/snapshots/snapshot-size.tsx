'use client'
import { useQuery } from '@tanstack/react-query'
import { CircleAlert, Loader } from 'lucide-react'
import { Badge } from '#components/ui/badge.tsx'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import type { Snapshot } from '#lib/contract/snapshots.ts'
import { snapshotQueries } from './queries.ts'

/** The size, or the progress until it is known. */
export const SnapshotSize = ({ snapshot: { id, size_bytes } }: { snapshot: Snapshot }) => {
  const { data } = useQuery({ ...snapshotQueries.status(id), enabled: size_bytes == null })
  const size = data?.snapshot?.size_bytes ?? size_bytes
  if (data?.status === 'error')
    return (
      <Badge tone="danger" icon={CircleAlert} title={data.error_message ?? undefined}>
        Failed
      </Badge>
    )
  if (size != null) return <span title={`${formatCount(size)} bytes`}>{formatBytes(size)}</span>
  return data?.status === 'in_progress' ? (
    <Badge tone="progress" icon={Loader} busy>
      In progress
    </Badge>
  ) : (
    <span className="text-muted">Unknown</span>
  )
}
