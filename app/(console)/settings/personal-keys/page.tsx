import type { Metadata } from 'next'
import { PersonalKeyList } from '#components/people/key-list.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Personal keys' }

export default async function Page() {
  const { role } = await requireSession()
  return <PersonalKeyList role={role} />
}
