import {
  dehydrate,
  type FetchInfiniteQueryOptions,
  type FetchQueryOptions,
  HydrationBoundary,
  type QueryClient,
  type QueryKey,
} from '@tanstack/react-query'
import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import type { ReactNode } from 'react'
import type * as z from 'zod/mini'
import { PageOfAccount } from '#components/layout/account-changed.tsx'
import { cutEnd, visiblePieces } from '#components/ui/text.ts'
import { type PageSearchParams, pageQuery } from '#lib/browser/address/url-query.ts'
import { isMissing } from '#lib/browser/api/failures.ts'
import { makeQueryClient } from '#lib/browser/queries/query-client.ts'
import { idPattern } from '#lib/contract/common.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export interface ListPageProps {
  searchParams: Promise<PageSearchParams>
}

export interface DetailPageProps extends ListPageProps {
  params: Promise<{ id: string }>
}

/** Renders `page` with the query cache that `read` filled, so that the browser does not fetch it again. */
export const readPage = async (read: (client: QueryClient) => Promise<unknown>, page: ReactNode) => {
  const client = makeQueryClient()
  const { account } = await requireSession()
  await read(client)
  return (
    <PageOfAccount id={account.id}>
      <HydrationBoundary state={dehydrate(client)}>{page}</HydrationBoundary>
    </PageOfAccount>
  )
}

/** The list itself reports an invalid address. */
export const readListPage = <S extends z.ZodMiniType, Page, Key extends QueryKey, Param>(
  schema: S,
  params: PageSearchParams,
  queryOf: (view: z.output<S>) => FetchInfiniteQueryOptions<Page, Error, Page, Key, Param>,
  page: ReactNode,
) => {
  const view = pageQuery(schema, params)
  return readPage(async (client) => view.ok && client.prefetchInfiniteQuery(queryOf(view.value)), page)
}

/** Only a missing record is handled here; the page shows other errors with a retry. */
export const readDetailPage = <Data, Key extends QueryKey>(
  id: string,
  query: FetchQueryOptions<Data, Error, Data, Key>,
  page: ReactNode,
) => {
  if (!idPattern.test(id)) notFound()
  return readPage(
    (client) =>
      client.fetchQuery(query).catch((error: unknown) => {
        if (isMissing(error)) notFound()
      }),
    page,
  )
}

/** Titles a record's page with its name, or its id if it has no name or cannot be loaded. */
export const titledByName =
  (noun: string, read: (id: string) => Promise<{ name?: string | null }>) =>
  async ({ params }: Pick<DetailPageProps, 'params'>): Promise<Metadata> => {
    const { id } = await params
    if (!idPattern.test(id)) return { title: noun }
    const { name } = await read(id).catch(() => ({ name: undefined }))
    return { title: name ? visibleText(cutEnd(name, 60)) : `${noun} ${id}` }
  }

const visibleText = (text: string) =>
  visiblePieces(text)
    .map((piece) => piece.text)
    .join('')
