import { SkeletonRows } from '#components/ui/skeleton.tsx'

export default function Loading() {
  return <SkeletonRows columns={5} label="Loading personal keys" />
}
