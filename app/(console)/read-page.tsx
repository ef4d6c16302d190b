import {
  dehydrate,
  type FetchInfiniteQueryOptions,
  type FetchQueryOptions,
  type QueryClient,
  type QueryKey,
} from '@tanstack/react-query'
import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { notFound } from 'next/navigation'
import { type ComponentType, cache, type ReactNode } from 'react'
import type * as z from 'zod/mini'
import { PageOfAccount } from '#components/layout/account-changed.tsx'
import { Prefetched } from '#components/layout/prefetched.tsx'
import type { ColumnsCookie } from '#components/list/use-columns.ts'
import { cutEnd, visiblePieces } from '#components/ui/text.ts'
import { type PageSearchParams, pageQuery } from '#lib/browser/address/url-query.ts'
import { isMissing } from '#lib/browser/api/failures.ts'
import { preferenceCookies } from '#lib/browser/frame/preferences.ts'
import { makeQueryClient } from '#lib/browser/queries/query-client.ts'
import { idPattern } from '#lib/contract/common.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { readSupport } from '#lib/gateway/support/view.ts'
import { serviceNow } from '#lib/gateway/upstream/clock.ts'

type Api = Awaited<ReturnType<typeof requireSession>>['api']

interface ListPageProps {
  searchParams: Promise<PageSearchParams>
}

export interface DetailPageProps extends ListPageProps {
  params: Promise<{ id: string }>
}

/** The id in a page's address, which Next passes encoded. Malformed ones are not found. */
export const idOf = async (params: DetailPageProps['params']): Promise<string> => {
  try {
    return decodeURIComponent((await params).id)
  } catch {
    return notFound()
  }
}

/** A page that loads its data in the browser. */
export const sessionPage = (Page: ComponentType) => async () => {
  await requireSession()
  return <Page />
}

/** Renders `page` with the query cache that `read` filled, so that the browser does not fetch it again. */
export const readPage = async (read: (client: QueryClient) => Promise<unknown>, page: ReactNode) => {
  const client = makeQueryClient()
  const { account } = await requireSession()
  await read(client)
  return (
    <PageOfAccount id={account.id}>
      <Prefetched state={dehydrate(client)} readMs={serviceNow()}>
        {page}
      </Prefetched>
    </PageOfAccount>
  )
}

/** A list with the columns this browser chose last. Null from `queryOf` prefetches nothing. */
export const listPage =
  <S extends z.ZodMiniType, Page, Key extends QueryKey, Param>(
    List: ComponentType<{ serviceUrl: string; savedColumns: string }>,
    columns: ColumnsCookie | undefined,
    schema: S,
    queryOf: (
      view: z.output<S>,
      api: Api,
      canSort: boolean,
    ) => FetchInfiniteQueryOptions<Page, Error, Page, Key, Param> | null,
    /** Endpoint ID, if the service may sort the list. */
    endpoint = '',
  ) =>
  async ({ searchParams }: ListPageProps) => {
    const { api, service } = await requireSession()
    const view = pageQuery(schema, await searchParams)
    const savedColumns = (columns && (await cookies()).get(preferenceCookies[columns])?.value) ?? ''
    // The list itself reports an invalid address.
    const support = endpoint && (await readSupport())
    const canSort = support ? (support.parameters[endpoint]?.includes('sort') ?? false) : false
    const query = view.ok && queryOf(view.value, api, canSort)
    return readPage(
      async (client) => query && client.prefetchInfiniteQuery(query),
      <List serviceUrl={service.url} savedColumns={savedColumns} />,
    )
  }

/** The page of a record, titled with its name or else its id. Only a missing record is handled here, not other errors. */
export const detailPage = <Data extends { name?: string | null }, Key extends QueryKey>(
  noun: string,
  Detail: ComponentType<{ id: string; serviceUrl: string; children: ReactNode }>,
  queryOf: (id: string) => FetchQueryOptions<Data, Error, Data, Key>,
  read: (api: Api, id: string) => Promise<Data>,
) => {
  // Shared by the title and the page within one request.
  const readOnce = cache(async (id: string) => read((await requireSession()).api, id))
  return {
    title: async ({ params }: Pick<DetailPageProps, 'params'>): Promise<Metadata> => {
      const id = await idOf(params)
      if (!idPattern.test(id)) return { title: noun }
      const { name } = await readOnce(id).catch(() => ({ name: undefined }))
      return { title: name ? visibleText(cutEnd(name, 60)) : `${noun} ${id}` }
    },
    page: async ({ params, children }: Pick<DetailPageProps, 'params'> & { children?: ReactNode }) => {
      const { service } = await requireSession()
      const id = await idOf(params)
      if (!idPattern.test(id)) notFound()
      return readPage(
        (client) =>
          client.fetchQuery({ ...queryOf(id), queryFn: () => readOnce(id) }).catch((error: unknown) => {
            if (isMissing(error)) notFound()
          }),
        <Detail id={id} serviceUrl={service.url}>
          {children}
        </Detail>,
      )
    },
  }
}

const visibleText = (text: string) =>
  visiblePieces(text)
    .map((piece) => piece.text)
    .join('')
