'use client'
import { ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { savePreference } from './save-preference.ts'

/** Shown once per browser session; the account menu always shows a badge. */
export const IsolationNotice = () => {
  const [isShown, setIsShown] = useState(true)
  if (!isShown) return null
  const dismiss = () => {
    savePreference('isolationNotice', 'seen')
    setIsShown(false)
  }
  return (
    <section aria-label="Isolation">
      <Banner
        tone="attention"
        icon={ShieldAlert}
        className="border-x-0 border-t-0 md:px-6"
        title="Devboxes are not isolated from this machine."
        onDismiss={dismiss}
      >
        Their processes have the same access as the service’s user. To isolate them, install bubblewrap and slirp4netns
        and restart the service.
      </Banner>
    </section>
  )
}
