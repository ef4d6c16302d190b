import type { Metadata } from 'next'
import { ShiftReportPage } from '#components/alerts/shift-report-page.tsx'
import { sessionPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Shift report' })

export default sessionPage(ShiftReportPage)
