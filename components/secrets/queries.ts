import { infiniteQueryOptions, mutationOptions, type QueryKey, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import { maxPageSize } from '#lib/contract/page-sizes.ts'
import { type Secret, secrets } from '#lib/contract/secrets.ts'

const pageApi = browserApi({ secrets })
type Api = typeof pageApi

type SecretPage = Awaited<ReturnType<Api['secrets']['list']>>

const secretKeys = { all: ['secrets'] as const }

const pollMs = 30_000

export const secretQueries = {
  /** One page: the API has no cursor for secrets. */
  list: (api: Api = pageApi) => ({
    ...infiniteQueryOptions<SecretPage, Error, { pages: SecretPage[]; pageParams: null[] }, QueryKey, null>({
      queryKey: [...secretKeys.all, 'list'],
      queryFn: ({ signal }) => api.secrets.list({ query: { limit: maxPageSize }, signal }),
      initialPageParam: null,
      getNextPageParam: () => null,
      refetchInterval: pollEvery(pollMs),
    }),
    rowsOf: ({ secrets }: SecretPage): readonly Secret[] => secrets,
  }),

  usage: (name: string) =>
    queryOptions({
      queryKey: [...secretKeys.all, 'usage', name],
      queryFn: ({ signal }) => pageApi.secrets.usage({ params: { name }, signal }),
      staleTime: 0,
    }),
}

interface SecretInput {
  name: string
  /** A function, because the mutation cache keeps its input. */
  value: () => string
}

export const secretMutations = {
  create: () =>
    change('create', ({ name, value }: SecretInput) => pageApi.secrets.create({ body: { name, value: value() } })),
  update: () =>
    change('update', ({ name, value }: SecretInput) =>
      pageApi.secrets.update({ params: { name }, body: { value: value() } }),
    ),
  delete: () => change('delete', (name: string) => pageApi.secrets.delete({ params: { name } })),
}

const change = <Input>(name: string, call: (input: Input) => Promise<Secret>) =>
  mutationOptions({
    mutationKey: [...secretKeys.all, name],
    mutationFn: call,
    onSettled: (_result, _error, _input, _context, { client }) => {
      void client.invalidateQueries({ queryKey: secretKeys.all })
      // Names to choose from in forms.
      void client.invalidateQueries({ queryKey: ['job-parts', 'secret-names'] })
    },
  })
