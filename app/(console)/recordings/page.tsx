import type { Metadata } from 'next'
import { RecordingList } from '#components/recordings/recording-list.tsx'
import { sessionPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Recordings' })

export default sessionPage(RecordingList)
