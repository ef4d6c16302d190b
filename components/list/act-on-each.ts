import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'

interface Words {
  done: string
  failed: string
}

/** One after the other, and one summary of how that went. `onNext` hears how many are behind it; false ends it there. */
export const actOnEach = async (
  words: Words,
  ids: readonly string[],
  act: (id: string) => Promise<unknown>,
  onNext: (done: number) => boolean = () => true,
): Promise<void> => {
  let done = 0
  const problems: unknown[] = []
  for (const id of ids) {
    if (!onNext(done + problems.length)) break
    try {
      await act(id)
      done += 1
    } catch (error) {
      problems.push(error)
    }
  }
  const count = ids.length === 1 ? '' : ` (${done} of ${ids.length})`
  if (problems.length > 0) toast.danger(words.failed + count, { description: problemOf(problems[0]).message })
  else if (done < ids.length) toast.info(`${words.failed}${count}: stopped`)
  else toast.ok(words.done + count)
}
