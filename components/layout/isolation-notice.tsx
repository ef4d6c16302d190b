'use client'
import { ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { remember } from './remember.ts'

/** Says once per browser session that devboxes are not shut in; the account menu keeps saying it. */
export const IsolationNotice = () => {
  const [isShown, setIsShown] = useState(true)
  if (!isShown) return null
  const dismiss = () => {
    remember('isolationNotice', 'seen')
    setIsShown(false)
  }
  return (
    <section aria-label="Isolation">
      <Banner
        tone="attention"
        icon={ShieldAlert}
        className="border-x-0 border-t-0 md:px-6"
        title="Devboxes run as plain processes of this machine, without isolation."
        onDismiss={dismiss}
      >
        What runs in them can read and change what the service's user can. Install bubblewrap and slirp4netns and
        restart the service to shut them in.
      </Banner>
    </section>
  )
}
