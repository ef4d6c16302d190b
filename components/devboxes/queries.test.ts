import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { snapshotMutations } from '#components/snapshots/queries.ts'
import { EditConflictError } from '#lib/browser/api/edit-conflict.ts'
import { createClient } from '#lib/client/client.ts'
import { ignoreFilters } from '#lib/service/testing/ignore-filters.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { devboxMutations, devboxQueries } from './queries.ts'
import { devboxKeys } from './query-keys.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const mutate = <Input, Answer>(
  options: { mutationFn?: (input: Input, context: never) => Promise<Answer> },
  input: Input,
): Promise<Answer> | undefined => options.mutationFn?.(input, undefined as never)

it('follows a new devbox through its states and caches each', async () => {
  const queryClient = new QueryClient()
  const { id, status } = await service.client.devboxes.create({ body: {} })
  const seen: string[] = [status]
  while (seen.at(-1) !== 'running')
    seen.push(await queryClient.fetchQuery(devboxQueries.next(id, seen.at(-1) ?? '', service.client)))
  expect(new Set(seen).size).toBe(seen.length)
  expect(queryClient.getQueryData(devboxKeys.one(id))).toMatchObject({ id, status: 'running' })
})

it('rejects an edit based on outdated values', async () => {
  const { id } = await service.client.devboxes.createAndAwaitRunning({ body: { metadata: { a: '1' } } })
  const base = { name: '', metadata: { a: '1' } }
  const change = { metadata: { a: '2' } }
  await service.client.devboxes.update({ params: { id }, body: { metadata: { b: '1' } } })
  const refused = mutate(devboxMutations.update(service.client), { id, base, change })
  await expect(refused).rejects.toMatchObject({ current: { metadata: { b: '1' } } })
  await expect(refused).rejects.toBeInstanceOf(EditConflictError)
  const current = { metadata: { b: '1' } }
  await expect(mutate(devboxMutations.update(service.client), { id, base: current, change })).resolves.toMatchObject(
    change,
  )

  const taken = await service.client.snapshots.create({ params: { id }, body: { name: 'one', metadata: { a: '1' } } })
  await service.client.snapshots.update({ params: { id: taken.id }, body: { commit_message: 'theirs' } })
  const update = snapshotMutations.update(service.client)
  const mine = { id: taken.id, metadata: { a: '2' } }
  await expect(mutate(update, { ...mine, base: taken })).rejects.toMatchObject({
    current: { commit_message: 'theirs' },
  })
  const known = { ...taken, commit_message: 'theirs' }
  await expect(mutate(update, { ...mine, base: known })).resolves.toMatchObject({ metadata: { a: '2' } })
})

it('loads later pages with a larger size', async () => {
  for (const name of ['a', 'b', 'c', 'd'])
    await service.client.devboxes.create({ body: { name, metadata: { of: 'pages' } } })
  const query = { limit: 1, include_total_count: false, metadata: [{ key: 'of', op: 'eq' as const, value: 'pages' }] }
  const { pages } = await new QueryClient().fetchInfiniteQuery({
    ...devboxQueries.list(query, service.client),
    pages: 2,
  })
  expect(pages.map(({ devboxes }) => devboxes.map(({ name }) => name))).toEqual([['d'], ['c', 'b', 'a']])
})

it('counts trial devboxes if the service supports it', async () => {
  const { client } = service
  const { id: scenario_id } = await client.scenarios.create({
    body: {
      name: 'counted',
      input_context: { problem_statement: 'Wait' },
      scoring_contract: {
        scoring_function_parameters: [{ name: 'true', scorer: { type: 'command_scorer', command: 'true' }, weight: 1 }],
      },
    },
  })
  await client.scenarioRuns.start({ body: { scenario_id, run_name: 'counted trial' } })
  await client.devboxes.create({ body: { name: 'counted own' } })
  const query = { search: 'counted', origin: 'own', limit: 20, include_total_count: true } as const
  const count = (api: typeof client) => new QueryClient().fetchQuery(devboxQueries.trialCount(query, api))
  expect(await count(client)).toBe(1)
  const foreign = await ignoreFilters(service.url)
  const api = createClient({ baseUrl: foreign.url, headers: { authorization: `Bearer ${service.key}` } })
  expect(await count(api)).toBeNull()
  await foreign.close()
})

it('lists devboxes of a service that rejects the origin filter', async () => {
  const { client } = service
  const list: typeof client.devboxes.list = (input) =>
    client.devboxes.list({ ...input, query: { ...input?.query, ...(input?.query?.origin && { limit: -1 }) } })
  const strict = { ...client, devboxes: { ...client.devboxes, list } }
  const query = { origin: 'own', limit: 1, include_total_count: false } as const
  const { pages } = await new QueryClient().fetchInfiniteQuery(devboxQueries.list(query, strict))
  expect(pages[0]?.devboxes).toHaveLength(1)
})
