import type { Metadata } from 'next'
import { ComparePage } from '#components/benchmarks/compare/compare-page.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const generateMetadata = (): Metadata => ({ title: 'Compare jobs' })

export default async function CompareJobsPage() {
  await requireSession()
  return <ComparePage />
}
