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
}

export const createExecutionStore = (database: Database) => {
  const insert = database.prepare(`
    INSERT INTO executions (id, devbox_id, command, shell_name, status, exit_status, create_time_ms, end_time_ms)
    VALUES (:id, :devbox_id, :command, :shell_name, :status, :exit_status, :create_time_ms, :end_time_ms)`)
  const get = database.prepare('SELECT * FROM executions WHERE devbox_id = ? AND id = ?')
  const unfinished = database.prepare("SELECT * FROM executions WHERE status <> 'completed'")
  const complete = database.prepare(
    "UPDATE executions SET status = 'completed', exit_status = ?, end_time_ms = ? WHERE devbox_id = ? AND id = ?",
  )
  return {
    insert: (record: ExecutionRecord): void => {
      insert.run({ ...record })
    },
    get: (devboxId: string, id: string) => get.get(devboxId, id) as ExecutionRecord | undefined,
    unfinished: () => unfinished.all() as unknown as ExecutionRecord[],
    complete: (devboxId: string, id: string, exitStatus: number, endTimeMs: number): void => {
      complete.run(exitStatus, endTimeMs, devboxId, id)
    },
  }
}

export type ExecutionStore = ReturnType<typeof createExecutionStore>
