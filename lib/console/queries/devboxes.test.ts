import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { ChangedMeanwhile } from '../api/changed-meanwhile.ts'
import { devboxKeys } from './devbox-keys.ts'
import { devboxMutations, devboxQueries } from './devboxes.ts'
import { snapshotMutations } from './snapshots.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const mutate = <Input, Answer>(
  options: { mutationFn?: (input: Input, context: never) => Promise<Answer> },
  input: Input,
): Promise<Answer> | undefined => options.mutationFn?.(input, undefined as never)

it('follows a new devbox from state to state until it runs, and keeps what each answer says of it', async () => {
  const queryClient = new QueryClient()
  const { id, status } = await service.client.devboxes.create({ body: {} })
  const seen: string[] = [status]
  while (seen.at(-1) !== 'running')
    seen.push(await queryClient.fetchQuery(devboxQueries.next(id, seen.at(-1) ?? '', service.client)))
  expect(new Set(seen).size).toBe(seen.length)
  expect(queryClient.getQueryData(devboxKeys.one(id))).toMatchObject({ id, status: 'running' })
})

it('saves over nothing that somebody else wrote meanwhile unless it is told what that is', async () => {
  const { id } = await service.client.devboxes.createAndAwaitRunning({ body: { metadata: { a: '1' } } })
  const base = { name: '', metadata: { a: '1' } }
  const change = { metadata: { a: '2' } }
  await service.client.devboxes.update({ params: { id }, body: { metadata: { b: '1' } } })
  const refused = mutate(devboxMutations.update(service.client), { id, base, change })
  await expect(refused).rejects.toMatchObject({ now: { metadata: { b: '1' } } })
  await expect(refused).rejects.toBeInstanceOf(ChangedMeanwhile)
  const now = { metadata: { b: '1' } }
  await expect(mutate(devboxMutations.update(service.client), { id, base: now, change })).resolves.toMatchObject(change)

  const taken = await service.client.snapshots.create({ params: { id }, body: { name: 'one', metadata: { a: '1' } } })
  await service.client.snapshots.update({ params: { id: taken.id }, body: { commit_message: 'theirs' } })
  const update = snapshotMutations.update(service.client)
  const mine = { id: taken.id, metadata: { a: '2' } }
  await expect(mutate(update, { ...mine, base: taken })).rejects.toMatchObject({ now: { commit_message: 'theirs' } })
  const known = { ...taken, commit_message: 'theirs' }
  await expect(mutate(update, { ...mine, base: known })).resolves.toMatchObject({ metadata: { a: '2' } })
})

it('reads on in larger pages, as devboxes of trials are left out of them', async () => {
  for (const name of ['a', 'b', 'c', 'd'])
    await service.client.devboxes.create({ body: { name, metadata: { of: 'pages' } } })
  const query = { limit: 1, include_total_count: false, metadata: [{ key: 'of', op: 'eq' as const, value: 'pages' }] }
  const { pages } = await new QueryClient().fetchInfiniteQuery({
    ...devboxQueries.list(query, service.client),
    pages: 2,
  })
  expect(pages.map(({ devboxes }) => devboxes.map(({ name }) => name))).toEqual([['d'], ['c', 'b', 'a']])
})
