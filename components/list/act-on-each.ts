import { toast } from '#components/ui/toast.tsx'

interface Words {
  done: string
  failed: string
}

/** One after the other, and one summary of how that went. `onNext` hears how many are behind it; false ends it there. */
export const actOnEach = async <Item>(
  words: Words,
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  onNext: (done: number) => boolean = () => true,
): Promise<void> => {
  let done = 0
  const problems: unknown[] = []
  for (const item of items) {
    if (!onNext(done + problems.length)) break
    try {
      await act(item)
      done += 1
    } catch (error) {
      problems.push(error)
    }
  }
  const count = items.length === 1 ? '' : ` (${`${done} of ${items.length}`})`
  if (problems.length > 0) toast.failed(words.failed + count)(problems[0])
  else if (done < items.length) toast.info(`${words.failed}${count}: ${'stopped'}`)
  else toast.ok(words.done + count)
}
