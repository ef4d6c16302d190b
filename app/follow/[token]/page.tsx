import type { Metadata } from 'next'
import { FollowedTerminal } from '#components/terminal/workspace/followed-terminal.tsx'

/** Nobody signs in here: the address itself is what lets somebody watch, so it is kept from search engines and links. */
export const metadata: Metadata = {
  title: 'A followed terminal',
  robots: { index: false, follow: false, nocache: true },
  referrer: 'no-referrer',
}

export default async function FollowPage({ params }: { params: Promise<{ token: string }> }) {
  return <FollowedTerminal token={(await params).token} />
}
