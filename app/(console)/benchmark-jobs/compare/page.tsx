import type { Metadata } from 'next'
import { ComparePage } from '#components/benchmarks/compare/compare-page.tsx'
import { sessionPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Compare jobs' })

export default sessionPage(ComparePage)
