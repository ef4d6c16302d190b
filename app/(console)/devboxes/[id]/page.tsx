import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { cache } from 'react'
import { DevboxDetail } from '#components/devboxes/devbox-detail.tsx'
import { devboxTabOf } from '#components/devboxes/devbox-tab.ts'
import { cutEnd, visiblePieces } from '#components/ui/text.ts'
import type { PageSearchParams } from '#lib/console/address/url-query.ts'
import { isMissing } from '#lib/console/api/failures.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { idPattern } from '#lib/contract/common.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

interface Props {
  params: Promise<{ id: string }>
  searchParams: Promise<PageSearchParams>
}

/** Once per request, for the title and for the page. */
const readDevbox = cache(async (id: string) => (await requireSession()).api.devboxes.get({ params: { id } }))

export const generateMetadata = async ({ params }: Props): Promise<Metadata> => {
  const { id } = await params
  const devbox = idPattern.test(id) ? await readDevbox(id).catch(() => undefined) : undefined
  return { title: devbox?.name ? visibleText(cutEnd(devbox.name, 60)) : 'Devbox' }
}

export default async function DevboxPage({ params, searchParams }: Props) {
  await requireSession()
  const { id } = await params
  if (!idPattern.test(id)) notFound()
  const queryClient = makeQueryClient()
  await queryClient.fetchQuery({ ...devboxQueries.get(id), queryFn: () => readDevbox(id) }).catch((error: unknown) => {
    if (isMissing(error)) notFound()
    // Anything else the page shows itself, with a way to try again.
  })
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <DevboxDetail id={id} tab={devboxTabOf((await searchParams).tab)} />
    </HydrationBoundary>
  )
}

const visibleText = (text: string) =>
  visiblePieces(text)
    .map((piece) => piece.text)
    .join('')
