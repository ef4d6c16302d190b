import { browserApi } from '#lib/browser/api/browser-api.ts'
import { executions } from '#lib/contract/executions.ts'

const pageApi = browserApi({ executions })
export type CommandApi = typeof pageApi

/** Runs a command and returns what it wrote. Rejects with the last thing it said when it failed. */
export const runInDevbox = async (
  devboxId: string,
  command: string,
  api: CommandApi = pageApi,
  signal?: AbortSignal,
): Promise<string> => {
  const call = { params: { id: devboxId }, body: { command }, ...(signal && { signal }) }
  const { stdout, stderr, exit_status } = await api.executions.executeSync(call)
  if (exit_status !== 0) throw new Error(reasonOf(stderr) || `The command ended with ${exit_status}`)
  return stdout
}

/** "bash: line 1: cd: /none: No such file or directory" says after its last colon what is wrong. */
const reasonOf = (stderr: string): string => /(?:^|: )([^:]*)$/.exec(stderr.trim().slice(-600))?.[1] ?? ''
