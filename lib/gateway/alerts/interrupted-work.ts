import type { LogRecord } from '#lib/contract/logs.ts'
import { isFilesTabCommand } from '#lib/protocol/files-tab-mark.ts'
import { clientFor } from '../upstream/client.ts'
import { callTimeoutMs } from './describe-devbox.ts'

interface Stop {
  deadline_ms: number
  stopped_ms: number
}

/** Number of commands running at the deadline according to the devbox log; undefined if it can't be read. */
export const interruptedCommands = async (apiKey: string, id: string, stop: Stop): Promise<number | undefined> => {
  try {
    const { logs } = await clientFor(apiKey, callTimeoutMs).logs.list({ params: { id } })
    return commandsRunningAt(logs, stop)
  } catch {
    return undefined
  }
}

/** The service logs the exit of a command that it kills, which is never before the deadline. */
export const commandsRunningAt = (records: readonly LogRecord[], { deadline_ms, stopped_ms }: Stop): number => {
  const running = new Set<string>()
  for (const { cmd_id, cmd, exit_code, timestamp_ms } of records) {
    if (!cmd_id) continue
    // The devbox may have been resumed after the stop.
    if (cmd != null && timestamp_ms <= stopped_ms && !isFilesTabCommand(cmd)) running.add(cmd_id)
    if (exit_code != null && timestamp_ms < deadline_ms) running.delete(cmd_id)
  }
  return running.size
}
