import type { Metadata } from 'next'
import { ShortcutsForm } from '#components/settings/shortcuts-form.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Keyboard shortcuts' }

export default async function ShortcutsPage() {
  await requireSession()
  return (
    <>
      <PageHeader title="Keyboard shortcuts" />
      <ShortcutsForm />
    </>
  )
}
