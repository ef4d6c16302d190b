import { cookies } from 'next/headers'
import type { ReactNode } from 'react'
import { ConsoleFrame } from '#components/layout/console-frame.tsx'
import { Toaster } from '#components/ui/toast.tsx'
import { preferenceCookies } from '#lib/browser/frame/preferences.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { readClusterView } from '#lib/gateway/cluster/view.ts'
import { readSupport } from '#lib/gateway/support/view.ts'

export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const { api: _, ...session } = await requireSession()
  const [remembered, cluster, support] = await Promise.all([cookies(), readClusterView(), readSupport()])
  return (
    <>
      <ConsoleFrame
        session={session}
        cluster={cluster}
        support={support}
        sidebarCollapsed={remembered.get(preferenceCookies.sidebar)?.value === 'collapsed'}
        isolationNoticeSeen={remembered.has(preferenceCookies.isolationNotice)}
      >
        {children}
      </ConsoleFrame>
      <Toaster />
    </>
  )
}
