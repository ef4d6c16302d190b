import type { Metadata } from 'next'
import { TrendPage } from '#components/benchmarks/trend/trend-page.tsx'
import { sessionPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Trend' })

export default sessionPage(TrendPage)
