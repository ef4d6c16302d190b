import type { Metadata } from 'next'
import { AlertHistory } from '#components/alerts/alert-history.tsx'
import { sessionPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Eviction history' })

export default sessionPage(AlertHistory)
