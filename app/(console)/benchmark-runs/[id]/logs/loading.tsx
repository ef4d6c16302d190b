import { SkeletonRows } from '#components/ui/skeleton.tsx'

export default function RunLogsLoading() {
  return <SkeletonRows columns={3} label="Loading logs" />
}
