import { SkeletonRows } from '#components/ui/skeleton.tsx'

export default function Loading() {
  return <SkeletonRows columns={2} label="Loading API keys" />
}
