import type { Metadata } from 'next'
import { FollowedTerminal } from '#components/terminal/workspace/followed-terminal.tsx'
import { Toaster } from '#components/ui/toast.tsx'

/** The address itself grants access, so it must not reach search engines or other sites. */
export const metadata: Metadata = {
  title: 'Shared terminal',
  robots: { index: false, follow: false, nocache: true },
  referrer: 'no-referrer',
}

export default async function FollowPage({ params }: { params: Promise<{ token: string }> }) {
  return (
    <>
      <FollowedTerminal token={(await params).token} />
      <Toaster />
    </>
  )
}
