import type { LogRecord } from '#lib/contract/logs.ts'
import { isReadByFiles } from '../live/files-mark.ts'

/** Commands of a devbox's log that began and have no exit status yet, the latest first. */
export const runningCommands = (records: readonly LogRecord[]): string[] => {
  const running = new Map<string, string>()
  for (const { cmd_id, cmd, exit_code } of records) {
    if (cmd_id == null) continue
    if (cmd != null && !isReadByFiles(cmd)) running.set(cmd_id, cmd)
    if (exit_code != null) running.delete(cmd_id)
  }
  return [...running.values()].reverse()
}
