import { SkeletonRows } from '#components/ui/skeleton.tsx'

export default function DevboxLoading() {
  return <SkeletonRows columns={2} label="Loading devbox" />
}
