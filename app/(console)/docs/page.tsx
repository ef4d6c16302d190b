import type { Metadata } from 'next'
import { PageHeader } from '#components/ui/page-header.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { listDocs } from '#lib/gateway/docs/docs.ts'

export const metadata: Metadata = { title: 'Docs' }

export default async function DocsPage() {
  await requireSession()
  return (
    <>
      <PageHeader title="Docs" />
      <ul className="max-w-prose divide-y divide-line">
        {(await listDocs()).map(({ page, title, summary }) => (
          <li key={page} className="py-3">
            <h2 className="text-lg font-medium">
              <TextLink href={paths.doc(page)}>{title}</TextLink>
            </h2>
            <p className="text-muted">{summary}</p>
          </li>
        ))}
      </ul>
    </>
  )
}
