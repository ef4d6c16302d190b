import type { ExecutionStatus } from '#lib/contract/executions.ts'
import type { Database } from './database.ts'

export interface ExecutionRecord {
  id: string
  devbox_id: string
  command: string
  shell_name: string | null
  status: ExecutionStatus
  exit_status: number | null
  create_time_ms: number
  end_time_ms: number | null
  request_id: string | null
  stdout_cut: number
  stderr_cut: number
  attach_stdin: number
}

export interface Completion {
  exitStatus: number
  endTimeMs: number
  stdoutCut: boolean
  stderrCut: boolean
}

/** Longest command that may start on a full disk: enough to remove files, too short to use up the reserve. */
const maxReserveCommandLength = 4096

export const createExecutionStore = (database: Database) => {
  const insert = database.prepare(`
    INSERT INTO executions
      (id, devbox_id, command, shell_name, status, exit_status, create_time_ms, end_time_ms, request_id, attach_stdin)
    VALUES (:id, :devbox_id, :command, :shell_name, :status, :exit_status, :create_time_ms, :end_time_ms, :request_id,
      :attach_stdin)`)
  const get = database.prepare('SELECT * FROM executions WHERE devbox_id = ? AND id = ?')
  const byRequest = database.prepare(`
    SELECT id FROM executions
    WHERE devbox_id = ? AND request_id = ? AND command = ? AND shell_name IS ? AND create_time_ms >= ?
    LIMIT 1`)
  const unfinished = database.prepare("SELECT * FROM executions WHERE status <> 'completed' ORDER BY rowid")
  const begin = database.prepare("UPDATE executions SET status = 'running' WHERE devbox_id = ? AND id = ?")
  const complete = database.prepare(`
    UPDATE executions
    SET status = 'completed', exit_status = ?, end_time_ms = ?, stdout_cut = ?, stderr_cut = ?
    WHERE devbox_id = ? AND id = ?`)
  // A power cut also ends the command.
  const withoutSync = (write: () => unknown) => void database.withoutSync(write)
  return {
    insert: ({ stdout_cut, stderr_cut, ...record }: ExecutionRecord): void => {
      const write = () => insert.run(record)
      const isShort = record.command.length <= maxReserveCommandLength
      withoutSync(() => (isShort ? database.forCommand(write) : write()))
    },
    get: (devboxId: string, id: string) => get.get(devboxId, id) as ExecutionRecord | undefined,
    byRequest: ({ devbox_id, request_id, command, shell_name }: ExecutionRecord, sinceMs: number) =>
      byRequest.get(devbox_id, request_id, command, shell_name, sinceMs)?.id as string | undefined,
    /** Of a queued command. */
    begin: (devboxId: string, id: string): void =>
      withoutSync(() => database.forCommand(() => begin.run(devboxId, id))),
    unfinished: () => unfinished.all() as unknown as ExecutionRecord[],
    complete: (devboxId: string, id: string, { exitStatus, endTimeMs, stdoutCut, stderrCut }: Completion): void => {
      const write = () => complete.run(exitStatus, endTimeMs, Number(stdoutCut), Number(stderrCut), devboxId, id)
      withoutSync(() => database.essential(write))
    },
  }
}

export type ExecutionStore = ReturnType<typeof createExecutionStore>
