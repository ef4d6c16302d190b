import type { Metadata } from 'next'
import { SideBySidePage } from '#components/benchmarks/side-by-side/side-by-side-page.tsx'
import { sessionPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Side by side' })

export default sessionPage(SideBySidePage)
