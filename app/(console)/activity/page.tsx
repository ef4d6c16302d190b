import type { Metadata } from 'next'
import { ActivityPage } from '#components/activity/activity-page.tsx'
import { sessionPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Activity' })

export default sessionPage(ActivityPage)
