import type { LogRecord } from '#lib/contract/logs.ts'
import { type LoggedExecution, noteExecution } from './execution-log.ts'

/** Commands of a devbox's log that began and have no exit status yet, the latest first. */
export const runningCommands = (records: readonly LogRecord[]): string[] => {
  const known = new Map<string, LoggedExecution>()
  for (const record of records) noteExecution(known, record)
  return [...known.values()]
    .filter(({ exit_code, isReadByFiles }) => exit_code === null && !isReadByFiles)
    .flatMap(({ command }) => command ?? [])
    .reverse()
}
