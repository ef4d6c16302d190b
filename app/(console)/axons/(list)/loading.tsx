import { PageHeader } from '#components/ui/page-header.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'

export default function LoadingAxons() {
  return (
    <>
      <PageHeader title="Axons" />
      <SkeletonRows columns={5} label="Loading axons" />
    </>
  )
}
