import type { Metadata } from 'next'
import { SessionList } from '#components/people/session-list.tsx'
import { sessionPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Sessions' })

export default sessionPage(SessionList)
