import type { Metadata } from 'next'
import { NoSuchPage } from '#components/layout/no-such-page.tsx'

export const metadata: Metadata = { title: 'Not found' }

export default function NotFound() {
  return (
    <main>
      <NoSuchPage />
    </main>
  )
}
