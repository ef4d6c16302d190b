'use client'
import { useQuery } from '@tanstack/react-query'
import type { Snapshot } from '#lib/contract/snapshots.ts'
import { snapshotQueries } from './queries.ts'

/** Some services never report a size, so only the status shows whether the copy is complete. Undefined until read. */
export const useSnapshotStatus = ({ id, size_bytes }: Snapshot): string | undefined => {
  const { data } = useQuery({ ...snapshotQueries.status(id), enabled: size_bytes == null })
  return size_bytes == null ? data?.status : 'complete'
}
