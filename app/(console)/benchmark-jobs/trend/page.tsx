import type { Metadata } from 'next'
import { TrendPage } from '#components/benchmarks/trend/trend-page.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { t } from '#lib/language/translate.ts'

export const generateMetadata = (): Metadata => ({ title: t('Trend') })

export default async function JobTrendPage() {
  await requireSession()
  return <TrendPage />
}
