import type { Metadata } from 'next'
import { ComparePage } from '#components/benchmarks/compare/compare-page.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { t } from '#lib/language/translate.ts'

export const generateMetadata = (): Metadata => ({ title: t('Compare jobs') })

export default async function CompareJobsPage() {
  await requireSession()
  return <ComparePage />
}
