'use client'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { PageNameProvider } from '#components/layout/page-name.tsx'
import { TerminalRequestsProvider } from '#components/terminal/terminal-requests.tsx'
import { makeQueryClient } from '#lib/browser/queries/query-client.ts'

export const Providers = ({ children }: { children: ReactNode }) => {
  const [queryClient] = useState(makeQueryClient)
  return (
    <QueryClientProvider client={queryClient}>
      <TerminalRequestsProvider>
        <PageNameProvider>{children}</PageNameProvider>
      </TerminalRequestsProvider>
    </QueryClientProvider>
  )
}
