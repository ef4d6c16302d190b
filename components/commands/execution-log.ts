import type { LogRecord } from '#lib/contract/logs.ts'
import { isFilesTabCommand } from '#lib/protocol/files-tab-mark.ts'
import { initialLogState, LogReader, type LogSource, type LogState } from '../devboxes/log/log-reader.ts'

/** One execution as the devbox log reports it; null where the log has no record of it. */
export interface LoggedExecution {
  execution_id: string
  command: string | null
  /** The log holds only the start of the command. */
  isCut: boolean
  isFromFilesTab: boolean
  shell_name: string | null
  source: string
  startedMs: number | null
  endedMs: number | null
  exit_code: number | null
}

export interface ExecutionLogSnapshot extends LogState {
  executions: readonly LoggedExecution[]
  /** Older executions dropped to stay within the limit. */
  dropped: number
  /** Commands without an id, such as launch commands. */
  unnamed: number
}

export const maxExecutions = 1_000

/** The executions named in a devbox log: the API has no list of executions. */
export class ExecutionLog extends LogReader<ExecutionLogSnapshot> {
  #executions = new Map<string, LoggedExecution>()
  #dropped = 0
  #unnamed = 0

  constructor(source: LogSource) {
    super(source, { executions: [], dropped: 0, unnamed: 0, ...initialLogState })
  }

  protected override add(records: readonly LogRecord[]) {
    for (const record of records) {
      if (!record.cmd_id && record.cmd != null) this.#unnamed++
      addToExecutions(this.#executions, record)
    }
    const oldest = this.#executions.keys()
    while (this.#executions.size > maxExecutions) {
      this.#executions.delete(oldest.next().value as string)
      this.#dropped++
    }
  }

  protected override reset() {
    this.#executions = new Map()
    this.#dropped = 0
    this.#unnamed = 0
  }

  protected override collect() {
    return { executions: [...this.#executions.values()].reverse(), dropped: this.#dropped, unnamed: this.#unnamed }
  }
}

/** Commands that started and have no exit status yet, newest first. */
export const runningCommands = (records: readonly LogRecord[]): string[] => {
  const executions = new Map<string, LoggedExecution>()
  for (const record of records) addToExecutions(executions, record)
  return [...executions.values()]
    .filter(({ exit_code, isFromFilesTab }) => exit_code === null && !isFromFilesTab)
    .flatMap(({ command }) => command ?? [])
    .reverse()
}

const addToExecutions = (
  executions: Map<string, LoggedExecution>,
  { cmd_id, cmd, exit_code, shell_name, source, timestamp_ms }: LogRecord,
): void => {
  if (!cmd_id) return
  const known = executions.get(cmd_id)
  if (known && cmd == null && exit_code == null) return
  executions.set(cmd_id, {
    ...(known ?? { ...unknown, execution_id: cmd_id, source, shell_name: shell_name ?? null }),
    ...(cmd != null && {
      command: cmd,
      isCut: cutMark.test(cmd),
      isFromFilesTab: isFilesTabCommand(cmd),
      startedMs: timestamp_ms,
    }),
    ...(exit_code != null && { exit_code, endedMs: timestamp_ms }),
  })
}

const unknown = { command: null, isCut: false, isFromFilesTab: false, startedMs: null, endedMs: null, exit_code: null }

/** The local service ends a command longer than a log record with this. */
const cutMark = / … \(\d+ more bytes\)$/
