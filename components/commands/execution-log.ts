import {
  FollowedRecords,
  notFollowed,
  type RecordSource,
  type RecordsState,
} from '#components/devboxes/log/followed-records.ts'
import { isReadByFiles } from '#components/files/read-mark.ts'
import type { LogRecord } from '#lib/contract/logs.ts'

/** What a log tells of one execution. Null is what it does not tell, or no longer. */
export interface LoggedExecution {
  execution_id: string
  command: string | null
  /** The log has only the beginning of the command. */
  isCut: boolean
  /** By which the Files tab reads. */
  isReadByFiles: boolean
  shell_name: string | null
  source: string
  startedMs: number | null
  endedMs: number | null
  exit_code: number | null
}

export interface ExecutionLogSnapshot extends RecordsState {
  /** The newest first. */
  executions: readonly LoggedExecution[]
  /** How many older ones are not kept. */
  dropped: number
  /** Commands with no id, which nobody can ask for: those of the launch, for one. */
  unnamed: number
}

/** A card each; what is older is in the log. */
export const maxExecutions = 1_000

/** The contract lists no executions of a devbox: these are the ones its log names. */
export class ExecutionLog extends FollowedRecords<ExecutionLogSnapshot> {
  #known = new Map<string, LoggedExecution>()
  #dropped = 0
  #unnamed = 0

  constructor(source: RecordSource) {
    super(source, { executions: [], dropped: 0, unnamed: 0, ...notFollowed })
  }

  protected override take(records: readonly LogRecord[]) {
    for (const record of records) {
      if (!record.cmd_id && record.cmd != null) this.#unnamed++
      noteExecution(this.#known, record)
    }
    const oldest = this.#known.keys()
    while (this.#known.size > maxExecutions) {
      this.#known.delete(oldest.next().value as string)
      this.#dropped++
    }
  }

  protected override forget() {
    this.#known = new Map()
    this.#dropped = 0
    this.#unnamed = 0
  }

  protected override gathered() {
    return { executions: [...this.#known.values()].reverse(), dropped: this.#dropped, unnamed: this.#unnamed }
  }
}

/** Writes down what a record tells of an execution. One with no id tells of none that could be asked for. */
export const noteExecution = (
  known: Map<string, LoggedExecution>,
  { cmd_id, cmd, exit_code, shell_name, source, timestamp_ms }: LogRecord,
): void => {
  if (!cmd_id) return
  const before = known.get(cmd_id)
  // A line of output says nothing new of a command that is known.
  if (before && cmd == null && exit_code == null) return
  known.set(cmd_id, {
    ...(before ?? { ...unknown, execution_id: cmd_id, source, shell_name: shell_name ?? null }),
    ...(cmd != null && {
      command: cmd,
      isCut: cutEnd.test(cmd),
      isReadByFiles: isReadByFiles(cmd),
      startedMs: timestamp_ms,
    }),
    ...(exit_code != null && { exit_code, endedMs: timestamp_ms }),
  })
}

const unknown = { command: null, isCut: false, isReadByFiles: false, startedMs: null, endedMs: null, exit_code: null }

/** How the local service marks a command that is longer than a record. */
const cutEnd = / … \(\d+ more bytes\)$/
