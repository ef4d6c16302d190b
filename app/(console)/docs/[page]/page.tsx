import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { DocText } from '#components/docs/markdown.tsx'
import { ShownName } from '#components/layout/page-name.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DocPage, isDocPage, readDoc, sectionsOf } from '#lib/gateway/docs/docs.ts'

interface Props {
  params: Promise<{ page: string }>
}

const titleOf = (page: DocPage, markdown: string) => sectionsOf(page, markdown)[0]?.page_title ?? page

export const generateMetadata = async ({ params }: Props): Promise<Metadata> => {
  const { page } = await params
  return { title: isDocPage(page) ? titleOf(page, await readDoc(page)) : 'Docs' }
}

export default async function DocPageRoute({ params }: Props) {
  await requireSession()
  const { page } = await params
  if (!isDocPage(page)) notFound()
  const markdown = await readDoc(page)
  const title = titleOf(page, markdown)
  return (
    <>
      <ShownName id={page} name={title} />
      <PageHeader title={title} />
      <DocText markdown={markdown} isPage={isDocPage} />
    </>
  )
}
