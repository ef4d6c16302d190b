'use client'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { PageNameProvider } from '#components/layout/page-name.tsx'
import { TerminalRequestsProvider } from '#components/terminal/terminal-requests.tsx'
import { makeQueryClient } from '#lib/browser/queries/query-client.ts'
import { syncClock } from '#lib/client/clock.ts'

interface ProvidersProps {
  /** The service's clock when the console rendered the page. */
  nowMs: number
  children: ReactNode
}

export const Providers = ({ nowMs, children }: ProvidersProps) => {
  // Before the first render, so that the browser renders the same times as the console.
  useState(() => syncWithPage(nowMs))
  const [queryClient] = useState(makeQueryClient)
  return (
    <QueryClientProvider client={queryClient}>
      <TerminalRequestsProvider>
        <PageNameProvider>{children}</PageNameProvider>
      </TerminalRequestsProvider>
    </QueryClientProvider>
  )
}

const syncWithPage = (serviceMs: number) => {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  syncClock(serviceMs, navigation?.requestStart, navigation?.responseStart)
}
