import type { Metadata } from 'next'
import { TrendPage } from '#components/benchmarks/trend/trend-page.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const generateMetadata = (): Metadata => ({ title: 'Trend' })

export default async function JobTrendPage() {
  await requireSession()
  return <TrendPage />
}
