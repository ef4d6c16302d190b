import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { DocText } from '#components/docs/markdown.tsx'
import { ShownName } from '#components/layout/page-name.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { docPages, readDoc, sectionsOf } from '#lib/gateway/docs/docs.ts'

interface Props {
  params: Promise<{ page: string }>
}

const titleOf = (markdown: string) => sectionsOf('', markdown)[0]?.page_title ?? 'Docs'

export const generateMetadata = async ({ params }: Props): Promise<Metadata> => ({
  title: titleOf((await readDoc((await params).page)) ?? ''),
})

export default async function DocPage({ params }: Props) {
  await requireSession()
  const { page } = await params
  const [markdown, pages] = await Promise.all([readDoc(page), docPages()])
  if (markdown === undefined) notFound()
  const title = titleOf(markdown)
  return (
    <>
      <ShownName id={page} name={title} />
      <PageHeader title={title} />
      <DocText markdown={markdown} pages={pages} />
    </>
  )
}
