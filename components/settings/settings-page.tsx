'use client'
import { PageHeader } from '#components/ui/page-header.tsx'
import type { SessionView } from '#lib/protocol/session.ts'
import { Appearance } from './appearance.tsx'
import { Connection } from './connection.tsx'
import { SelfCheck } from './self-check.tsx'

export const SettingsPage = ({ session }: { session: SessionView }) => (
  <>
    <PageHeader title="Settings" description="How this browser is connected, and what it remembers." />
    <div className="grid max-w-5xl gap-x-12 gap-y-10 lg:grid-cols-2 lg:grid-rows-[auto_1fr]">
      <Connection session={session} />
      <SelfCheck />
      <Appearance />
    </div>
  </>
)
