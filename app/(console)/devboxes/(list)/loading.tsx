import { SkeletonRows } from '#components/ui/skeleton.tsx'

export default function DevboxesLoading() {
  return <SkeletonRows columns={6} label="Loading devboxes" />
}
