import { infiniteQueryOptions, keepPreviousData, mutationOptions, queryOptions } from '@tanstack/react-query'
import type { Client } from '#lib/client/client.ts'
import type { AxonCreate, AxonListQuery } from '#lib/contract/axons.ts'
import { browserApi } from '../api.ts'

const axonKeys = {
  lists: ['axons', 'list'] as const,
  one: (id: string) => ['axons', 'get', id] as const,
}

export const axonQueries = {
  /** The pages of a list from `query.starting_after` on. */
  list: (query: AxonListQuery, api: Client = browserApi) =>
    infiniteQueryOptions({
      queryKey: [...axonKeys.lists, query] as const,
      queryFn: ({ pageParam, signal }) => api.axons.list({ query: { ...query, starting_after: pageParam }, signal }),
      initialPageParam: query.starting_after,
      getNextPageParam: ({ has_more, axons }) => (has_more ? axons.at(-1)?.id : undefined),
      placeholderData: keepPreviousData,
    }),

  get: (id: string, api: Client = browserApi) =>
    queryOptions({
      queryKey: axonKeys.one(id),
      queryFn: ({ signal }) => api.axons.get({ params: { id }, signal }),
    }),
}

export const axonMutations = {
  create: (api: Client = browserApi) =>
    mutationOptions({
      mutationKey: ['axons', 'create'],
      mutationFn: (body: AxonCreate) => api.axons.create({ body }),
      onSuccess: (axon, _body, _result, { client }) => {
        client.setQueryData(axonKeys.one(axon.id), axon)
        return client.invalidateQueries({ queryKey: axonKeys.lists })
      },
    }),

  delete: (api: Client = browserApi) =>
    mutationOptions({
      mutationKey: ['axons', 'delete'],
      mutationFn: (id: string) => api.axons.delete({ params: { id } }),
      // The record stays and carries its deletion time, which only the service knows.
      onSuccess: (_answer, _id, _result, { client }) => client.invalidateQueries({ queryKey: ['axons'] }),
    }),
}
